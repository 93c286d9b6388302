// Clients of a Redis primary and its replica, which record what they read and wrote.
//
//	redis-replica TRACE WRITES READS
//
// WRITES is the port of the server that they write to, READS that of the server that they read from. Values are distinct, so
// each identifies its write. The command speaks RESP, the protocol of Redis, by itself.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"omnilink"
)

const (
	clients    = 4
	operations = 2500
	timeout    = 2 * time.Second
)

var (
	write = &omnilink.Action{Name: "write", Arguments: []string{"key", "value"}}
	read  = &omnilink.Action{Name: "read", Arguments: []string{"key"}, Results: []string{"value"}}
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: redis-replica TRACE WRITES READS")
	}
	recorder, err := omnilink.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var group sync.WaitGroup
	for number := 1; number <= clients; number++ {
		client, err := recorder.Process(fmt.Sprintf("c%d", number))
		if err != nil {
			log.Fatal(err)
		}
		group.Add(1)
		go func(number int) {
			defer group.Done()
			if err := run(client, number, os.Args[2], os.Args[3]); err != nil {
				log.Fatalf("c%d: %v", number, err)
			}
		}(number)
	}
	group.Wait()
	if err := recorder.Close(); err != nil {
		log.Fatal(err)
	}
}

// run performs the operations of one client. The keys are new ones for each trace, because a replica may not have those of an
// earlier one yet.
func run(client *omnilink.Process, number int, writes, reads string) error {
	primary, err := dial(writes)
	if err != nil {
		return err
	}
	replica, err := dial(reads)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewSource(int64(number)))
	for i := 0; i < operations; i++ {
		key := fmt.Sprintf("%s-%d", os.Args[1], random.Intn(2))
		if random.Intn(2) == 0 {
			value := number*operations + i
			call := client.Call(write, key, value)
			if _, err := primary.do("SET", key, strconv.Itoa(value)); err != nil {
				return err // The write may have taken effect, so the call has no outcome.
			}
			call.Return()
		} else {
			call := client.Call(read, key)
			text, err := replica.do("GET", key)
			if err != nil {
				return err
			}
			if text == nil {
				call.Return(nil)
			} else if value, err := strconv.Atoi(*text); err != nil {
				return err
			} else {
				call.Return(value)
			}
		}
	}
	return nil
}

// A connection sends one command at a time.
type connection struct {
	net.Conn
	input *bufio.Reader
}

func dial(port string) (*connection, error) {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, timeout)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReader(conn)}, nil
}

// do sends a command and returns its reply, nil for none.
func (c *connection) do(words ...string) (*string, error) {
	request := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		request += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	if _, err := c.Write([]byte(request)); err != nil {
		return nil, err
	}
	line, err := c.line()
	switch {
	case err != nil:
		return nil, err
	case line == "$-1":
		return nil, nil
	case strings.HasPrefix(line, "+"):
		line = line[1:]
		return &line, nil
	case strings.HasPrefix(line, "$"):
		text, err := c.line()
		return &text, err
	default:
		return nil, fmt.Errorf("%s: %s", words[0], line)
	}
}

func (c *connection) line() (string, error) {
	line, err := c.input.ReadString('\n')
	return strings.TrimSuffix(line, "\r\n"), err
}
