jit-reader-load /work/wt/options/plugin/goheap.so
