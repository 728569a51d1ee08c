// Package stock is what the shop has.
package stock

import "fmt"

type Item struct {
	Name  string
	Count int
}

type Store struct {
	items map[string]*Item
	words []string
}

// Opened counts the stores; Last is the newest.
var (
	Opened int
	Last   *Store
)

func New(words ...string) *Store {
	Opened++
	Last = &Store{items: map[string]*Item{}, words: words}
	return Last
}

//go:noinline
func (s *Store) Add(name string, count int) (total int) {
	item := s.items[name]
	if item == nil {
		item = &Item{Name: name}
		s.items[name] = item
	}
	before := item.Count
	item.Count += count
	total = item.Count
	if total < before {
		panic(fmt.Sprintf("%s: %d < %d", name, total, before)) // lost
	}
	return total // added
}
