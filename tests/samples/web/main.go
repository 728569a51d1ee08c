// Web is a server with a store in memory, and its clients; it answers some requests over connections that it keeps, and
// writes a heap dump.
//
//	web DUMP
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/ioutil"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"time"
)

// Item is what the store holds.
type Item struct {
	ID      int               `json:"id"`
	Name    string            `json:"name"`
	Tags    []string          `json:"tags"`
	Fields  map[string]string `json:"fields"`
	Parent  *Item             `json:"-"`
	Extra   interface{}       `json:"extra"`
	Changed time.Time         `json:"changed"`
}

// Store keeps items by number and by tag.
type Store struct {
	mutex sync.RWMutex
	items map[int]*Item
	tags  map[string][]*Item
	log   []fmt.Stringer
	watch chan *Item
}

// Change is an entry of the store's log.
type Change struct {
	item *Item
	at   time.Time
}

// String tells of the change.
func (c *Change) String() string { return fmt.Sprint(c.item.ID, " ", c.at) }

var (
	store = &Store{items: map[int]*Item{}, tags: map[string][]*Item{}, watch: make(chan *Item, 16)}
	page  = template.Must(template.New("page").Parse(
		`<ul>{{range .}}<li title="{{.Name}}">{{.ID}}{{range .Tags}} {{.}}{{end}}</li>{{end}}</ul>`))
	cache sync.Map
)

func (s *Store) put(item *Item) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.items[item.ID] = item
	for _, tag := range item.Tags {
		s.tags[tag] = append(s.tags[tag], item)
	}
	s.log = append(s.log, &Change{item, time.Now()})
	select {
	case s.watch <- item:
	default:
	}
}

// ServeHTTP takes an item, or shows those with a tag.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		item := new(Item)
		if err := json.NewDecoder(r.Body).Decode(item); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.put(item)
		return
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	items := append([]*Item(nil), s.tags[r.FormValue("tag")]...)
	sort.Slice(items, func(i, j int) bool { return items[i].ID < items[j].ID })
	var text bytes.Buffer
	if err := page.Execute(&text, items); err != nil {
		panic(err)
	}
	cache.Store(r.FormValue("tag"), text.String())
	w.Write(text.Bytes())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(client *http.Client, url string, id int) {
	item := Item{ID: id, Name: fmt.Sprint("item ", id), Tags: []string{fmt.Sprint("tag ", id%37), "all"},
		Fields: map[string]string{"key": strings.Repeat("value ", id%11)}, Extra: []int{id, id * id}, Changed: time.Now()}
	body, err := json.Marshal(&item)
	must(err)
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	must(err)
	io.Copy(ioutil.Discard, response.Body)
	response.Body.Close()
	if id%10 != 0 {
		return
	}
	response, err = client.Get(fmt.Sprintf("%s/?tag=tag+%d", url, id%37))
	must(err)
	io.Copy(ioutil.Discard, response.Body)
	response.Body.Close()
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: web DUMP")
		os.Exit(2)
	}
	server := httptest.NewServer(store)
	for i := 0; i < 5000; i++ {
		answer(server.Client(), server.URL, i)
	}
	dump, err := os.Create(os.Args[1])
	must(err)
	runtime.GC()
	debug.WriteHeapDump(dump.Fd())
	runtime.KeepAlive(store)
}
