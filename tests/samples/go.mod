module example.org/goheap/samples

go 1.15
