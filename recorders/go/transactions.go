//go:build unix

package omnilink

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Transactions records transactions of a store, for `omnilink check --isolation`: a file of JSON Lines.
//
//	recorder, err := omnilink.CreateTransactions("txns.jsonl")
//	session, err := recorder.Session("c1") // one for each goroutine or connection
//
//	txn := session.Begin() // before the store begins
//	defer txn.End()
//	txn.Read("x", value)
//	txn.Write("x", 2)
//	txn.Committing() // before COMMIT is sent
//	if err := connection.Commit(); err == nil {
//		txn.Committed()
//	}
//
//	err = recorder.Close()
//
// Without an outcome, a transaction aborted if it ends before Committing, and its outcome is unknown after it. Committing writes
// the line, so a program that is killed then loses no transaction.
//
// Keys and values are nil, truth values, numbers and strings; a slice is a list that was read. Other values and a full disk are
// panics.
type Transactions struct {
	file  *os.File
	clock func() uint64
	mutex sync.Mutex
	names map[string]bool
	size  int64
}

// CreateTransactions makes the file, which must not exist. Times are nanoseconds of a monotonic clock since then.
func CreateTransactions(path string) (*Transactions, error) {
	base := time.Now()
	return createTransactions(path, func() uint64 { return uint64(time.Since(base)) })
}

func createTransactions(path string, clock func() uint64) (*Transactions, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &Transactions{file: file, clock: clock, names: map[string]bool{}}, nil
}

// Session begins a session. No two sessions of a file have the same name.
func (r *Transactions) Session(name string) (*Session, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.names[name] {
		return nil, fmt.Errorf("session `%s` already exists", name)
	}
	r.names[name] = true
	return &Session{recorder: r, name: scalar(name)}, nil
}

// Close closes the file. Sessions must not be in use.
func (r *Transactions) Close() error { return r.file.Close() }

// A Session performs one transaction after another.
type Session struct {
	recorder *Transactions
	name     string // As JSON.
	latest   uint64 // No transaction starts earlier.
}

// A Transaction that is being recorded.
type Transaction struct {
	session      *Session
	start        uint64
	accesses     []string
	stamps       string
	status       string // Empty while the transaction has no outcome.
	offset       int64
	room         int // Of its line; 0 if there is none.
	isCommitting bool
}

// Begin begins a transaction. Call it before the store begins one.
func (s *Session) Begin() *Transaction {
	s.latest = max(s.recorder.clock(), s.latest)
	return &Transaction{session: s, start: s.latest}
}

// Read records that the store returned this value, or this list of all elements.
func (t *Transaction) Read(key, value any) {
	list := reflect.ValueOf(value)
	if value == nil || list.Kind() != reflect.Slice {
		t.access("r", key, scalar(value))
		return
	}
	elements := make([]string, list.Len())
	for i := range elements {
		elements[i] = scalar(list.Index(i).Interface())
	}
	t.access("r", key, "["+strings.Join(elements, ", ")+"]")
}

// Write records that a register was written.
func (t *Transaction) Write(key, value any) { t.access("w", key, scalar(value)) }

// Append records that an element was appended to a list.
func (t *Transaction) Append(key, element any) { t.access("append", key, scalar(element)) }

func (t *Transaction) access(kind string, key any, value string) {
	if t.isCommitting || t.status != "" {
		panic("omnilink: the transaction is committing, or has an outcome")
	}
	t.accesses = append(t.accesses, fmt.Sprintf("[\"%s\", %s, %s]", kind, scalar(key), value))
}

// Stamp records a time that the database gave the transaction: `snapshot_ts` and `commit_ts`, which are numbers, or PostgreSQL's
// `snapshot` and `xid`. Call it before the outcome.
func (t *Transaction) Stamp(field string, stamp any) {
	if t.status != "" {
		panic("omnilink: the transaction has an outcome")
	}
	t.stamps += ", " + scalar(field) + ": " + scalar(stamp)
}

// Committing records that the commit is about to be sent: until its outcome is known, the transaction may have taken effect.
func (t *Transaction) Committing() {
	t.isCommitting = true
	t.put(", \"status\": \"unknown\"")
}

// Committed records that the transaction took effect.
func (t *Transaction) Committed() { t.end("committed") }

// Aborted records that the transaction had no effect.
func (t *Transaction) Aborted() { t.end("aborted") }

// Unknown records that the transaction may or may not have taken effect. The next one of its session may run beside it.
func (t *Transaction) Unknown() {
	t.expectNone()
	t.status = "unknown"
	t.put(", \"status\": \"unknown\"")
}

// End ends a transaction without an outcome: it aborted before Committing, and its outcome is unknown after it.
func (t *Transaction) End() {
	switch {
	case t.status != "":
	case t.isCommitting:
		t.Unknown()
	default:
		t.Aborted()
	}
}

func (t *Transaction) end(status string) {
	t.expectNone()
	t.status = status
	t.session.latest = max(t.session.recorder.clock(), t.start)
	t.put(fmt.Sprintf(", \"end\": %d, \"status\": \"%s\"", t.session.latest, status))
}

func (t *Transaction) expectNone() {
	if t.status != "" {
		panic("omnilink: the transaction is already " + t.status)
	}
}

const (
	outcomeRoom = 160  // Spaces behind a line without an outcome, for its end and its stamps.
	pageSize    = 4096 // A killed program may write a part of its bytes, but not of those in one page.
)

// put writes the line, in place of the one that is there.
func (t *Transaction) put(outcome string) {
	line := fmt.Sprintf("{\"process\": %s, \"txn\": [%s], \"start\": %d%s%s}",
		t.session.name, strings.Join(t.accesses, ", "), t.start, outcome, t.stamps)
	if err := t.session.recorder.put(t, line); err != nil {
		panic(fmt.Sprintf("omnilink: cannot record: %v", err))
	}
}

func (r *Transactions) put(t *Transaction, line string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(line) < t.room {
		_, err := r.file.WriteAt(padded(line, t.room), t.offset)
		return err
	}
	old, hasOld := t.offset, t.room > 0
	t.room = len(line) + 1
	if t.status == "" {
		t.room += outcomeRoom
	}
	if page := r.size % pageSize; page+int64(t.room) > pageSize && t.room <= pageSize {
		gap := strings.Repeat("\n", int(pageSize-page))
		if _, err := r.file.WriteAt([]byte(gap), r.size); err != nil {
			return err
		}
		r.size += int64(len(gap))
	}
	if _, err := r.file.WriteAt(padded(line, t.room), r.size); err != nil {
		return err
	}
	t.offset = r.size
	r.size += int64(t.room)
	if !hasOld {
		return nil
	}
	_, err := r.file.WriteAt([]byte("#"), old) // A comment now.
	return err
}

func padded(line string, room int) []byte {
	return []byte(line + strings.Repeat(" ", room-1-len(line)) + "\n")
}

// scalar returns a key or a value as JSON.
func scalar(value any) string {
	of := reflect.ValueOf(value)
	switch {
	case value == nil:
		return "null"
	case of.Type() == reflect.TypeOf((*big.Int)(nil)):
		return value.(*big.Int).String()
	case of.Kind() == reflect.Bool:
		return strconv.FormatBool(of.Bool())
	case of.CanInt():
		return strconv.FormatInt(of.Int(), 10)
	case of.CanUint():
		return strconv.FormatUint(of.Uint(), 10)
	case of.CanFloat():
		if math.IsNaN(of.Float()) || math.IsInf(of.Float(), 0) {
			panic("omnilink: only finite numbers can be recorded")
		}
		text := strconv.FormatFloat(of.Float(), 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	case of.Kind() == reflect.String && utf8.ValidString(of.String()):
		text, err := json.Marshal(of.String())
		if err == nil {
			return string(text)
		}
	}
	panic(fmt.Sprintf("omnilink: a value of type %T cannot be recorded, or is not UTF-8", value))
}
