// A store whose reader keeps what it has read in a cache.
package main

import (
	"log"
	"omnilink"
)

var write = &omnilink.Action{Name: "write", Arguments: []string{"key", "value"}}
var read = &omnilink.Action{Name: "read", Arguments: []string{"key"}, Results: []string{"value"}}

func main() {
	recorder, err := omnilink.Create("trace")
	if err != nil {
		log.Fatal(err)
	}
	writer, _ := recorder.Process("writer")
	reader, _ := recorder.Process("reader")
	store, cache := map[string]int{}, map[string]int{}
	for value := 1; value <= 2; value++ {
		call := writer.Call(write, "x", value)
		store["x"] = value
		call.Return()

		call = reader.Call(read, "x")
		if _, ok := cache["x"]; !ok {
			cache["x"] = store["x"]
		}
		call.Return(cache["x"])
	}
	if err := recorder.Close(); err != nil {
		log.Fatal(err)
	}
}
