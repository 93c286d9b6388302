//go:build unix

// Package omnilink records the operations of a concurrent program, so that OmniLink can decide whether a specification
// allows them.
//
//	var write = &omnilink.Action{Name: "write", Arguments: []string{"key", "value"}}
//	var read = &omnilink.Action{Name: "read", Arguments: []string{"key"}, Results: []string{"value"}}
//
//	recorder, err := omnilink.Create("trace")
//	client, err := recorder.Process("c1") // one for each goroutine or connection
//
//	call := client.Call(write, 1, 2) // in the trace before the system is touched
//	if err := store.Write(1, 2); err == nil {
//		call.Return()
//	}
//
//	call = client.Call(read, 1)
//	if value, err := store.Read(1); err == nil {
//		call.Return(value)
//	}
//
//	err = recorder.Close()
//
// A call without an outcome is unfinished: it may take effect at any later time, or never. No operation may follow an
// unfinished one in its process, so the next call begins another process, named `c1+1` after `c1`. An error that proves that
// the call had no effect is Failed.
//
// A trace is a directory with one segment per process; FORMAT.md specifies its bytes. Segments are mapped shared, and a record
// counts once the first byte of its length is stored. So a program that is killed loses no record, and needs no flush.
//
// Values that cannot be recorded, wrong numbers of values, and a full disk are panics: without the record, later verdicts
// would be about another execution.
package omnilink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// An Action is something that can be called. Recorders identify it by its address. An argument or a result whose name is
// empty is known by its place.
type Action struct {
	Name               string
	Arguments, Results []string
}

// A Recorder writes a trace. Goroutines may share it.
type Recorder struct {
	directory string
	clock     func() uint64
	mutex     sync.Mutex
	names     map[string]bool
	processes []*Process
}

// Create makes the directory, which must not hold a trace. Times are nanoseconds of a monotonic clock since then.
func Create(directory string) (*Recorder, error) {
	base := time.Now()
	return create(directory, func() uint64 { return uint64(time.Since(base)) })
}

// CreateShared makes the directory of a program that is one of several. Times are nanoseconds since 1970: the time of day when
// the recorder was created, and a monotonic clock since then. So traces of several programs can be joined, as far as the time of
// day of their machines agrees and was not set between their starts.
func CreateShared(directory string) (*Recorder, error) {
	base := time.Now()
	return create(directory, func() uint64 { return uint64(base.UnixNano()) + uint64(time.Since(base)) })
}

func create(directory string, clock func() uint64) (*Recorder, error) {
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return nil, err
	}
	if found, err := filepath.Glob(filepath.Join(directory, "*.seg")); err != nil || len(found) > 0 {
		return nil, fmt.Errorf("`%s` already holds a trace; remove it, or record elsewhere", directory)
	}
	manifest := []byte("{\"format\": \"omnilink-trace\", \"version\": 1, \"clock\": \"ns\"}\n")
	if err := os.WriteFile(filepath.Join(directory, "manifest.json"), manifest, 0o666); err != nil {
		return nil, err
	}
	return &Recorder{directory: directory, clock: clock, names: map[string]bool{}}, nil
}

// Process begins a process. No two processes of a trace have the same name.
func (r *Recorder) Process(name string) (*Process, error) {
	if len(name) > 240 || !utf8.ValidString(name) {
		return nil, errors.New("the name of a process is UTF-8, and has at most 240 bytes")
	}
	p := &Process{recorder: r, name: name}
	taken, err := p.enter(name)
	if taken {
		return nil, fmt.Errorf("process `%s` already exists", name)
	}
	if err != nil {
		return nil, err
	}
	r.mutex.Lock()
	r.processes = append(r.processes, p)
	r.mutex.Unlock()
	return p, nil
}

// Close ends all processes. They must not be in use.
func (r *Recorder) Close() error {
	var first error
	for _, p := range r.processes {
		if err := p.Close(); first == nil {
			first = err
		}
	}
	return first
}

// A Process is a goroutine, a client or a session: it runs one operation at a time.
type Process struct {
	recorder      *Recorder
	name          string
	segment       *segment
	actions       []*Action // By number; few, so a linear search is fast.
	body          []byte
	calls         uint64 // Of this client, in all its segments.
	operations    uint64 // Of this segment.
	written       uint64 // The last time in the segment, from which the next one counts.
	latest        uint64 // No operation starts earlier.
	continuations int
	isUnfinished  bool // The last operation of the segment has no outcome.

	// The last call.
	isOpen, isRefined, hasEnd bool
	action                    *Action
	number, start, end        uint64
	arguments                 []byte
}

// A Call is an operation that has begun.
type Call struct {
	process *Process
	number  uint64
}

// Call publishes that an action begins, with a value for each of its arguments.
func (p *Process) Call(action *Action, arguments ...any) Call {
	expect(action, action.Arguments, arguments)
	if p.isUnfinished {
		p.continueElsewhere()
	}
	p.number = p.numberOf(action)
	values := encodeAll(p.arguments[:0], arguments)
	p.action, p.arguments, p.isRefined, p.hasEnd = action, values, false, false
	p.start = max(p.recorder.clock(), p.latest)
	body := append(p.body[:0], kindCall)
	body = binary.AppendUvarint(body, p.number)
	body = p.appendTime(body, p.start)
	p.record(append(body, values...))
	p.calls++
	p.operations++
	p.isOpen, p.isUnfinished = true, true
	return Call{p, p.calls}
}

// Return records that the call returned, with a value for each result of its action.
func (c Call) Return(results ...any) {
	p, end := c.finish()
	expect(p.action, p.action.Results, results)
	if p.isRefined {
		p.outcome(p.number, end, p.arguments, results)
	} else {
		p.record(encodeAll(p.appendTime(append(p.body[:0], kindReturn), end), results))
	}
	p.isUnfinished = false
}

// ReturnAs records that the call returned as another action, with other arguments and results.
func (c Call) ReturnAs(action *Action, arguments, results []any) {
	p, end := c.finish()
	expect(action, action.Arguments, arguments)
	expect(action, action.Results, results)
	p.outcome(p.numberOf(action), end, encodeAll(nil, arguments), results)
	p.isUnfinished = false
}

// Failed records that the call is known to have had no effect. An error that leaves this open is not a failure.
func (c Call) Failed() {
	p, end := c.finish()
	p.record(p.appendTime(append(p.body[:0], kindFail), end))
	p.isUnfinished = false
}

// UnknownByNow records that the call may have taken effect, but cannot any more: it was cancelled, or its lease ran out.
func (c Call) UnknownByNow() {
	p, end := c.finish()
	p.record(p.appendTime(append(p.body[:0], kindUnknown), end))
}

// Meta adds a note for people to read.
func (c Call) Meta(key string, value any) {
	p := c.open()
	p.record(encode(appendString(append(p.body[:0], kindMeta), key), value, 0))
}

// RefineStart says that the call has done nothing so far.
func (c Call) RefineStart() {
	p := c.open()
	p.start, p.isRefined, p.hasEnd = max(p.recorder.clock(), p.latest), true, false
}

// RefineEnd says that the call has taken effect by now. The last one counts.
func (c Call) RefineEnd() {
	p := c.open()
	p.end, p.hasEnd = p.recorder.clock(), true
}

// Close ends the process, which must not be used afterwards. A process without it is read all the same, and reported as
// broken off.
func (p *Process) Close() error {
	if p.segment == nil {
		return nil
	}
	p.record(binary.AppendUvarint(append(p.body[:0], kindEnd), p.operations))
	segment := p.segment
	p.segment = nil
	return segment.close()
}

const (
	kindAction  = 1
	kindCall    = 3
	kindReturn  = 4
	kindFail    = 5
	kindMeta    = 6
	kindEnd     = 7
	kindOutcome = 8
	kindUnknown = 9
)

func (c Call) open() *Process {
	if !c.process.isOpen || c.process.calls != c.number {
		panic("omnilink: the call has an outcome, or another call of its process began")
	}
	return c.process
}

// finish returns the end of the call. An end before the start is a clock that stepped back; one that is late is harmless.
func (c Call) finish() (*Process, uint64) {
	p := c.open()
	if !p.hasEnd {
		p.end = p.recorder.clock()
	}
	p.latest = max(p.end, p.start)
	p.isOpen = false
	return p, p.latest
}

func (p *Process) outcome(number, end uint64, arguments []byte, results []any) {
	body := binary.AppendUvarint(append(p.body[:0], kindOutcome), number)
	body = p.appendTime(p.appendTime(body, p.start), end)
	p.record(encodeAll(append(body, arguments...), results))
}

func (p *Process) appendTime(body []byte, time uint64) []byte {
	body = binary.AppendVarint(body, int64(time-p.written))
	p.written = time
	return body
}

func (p *Process) record(body []byte) {
	p.body = body
	if err := p.segment.append(body); err != nil {
		panic(fmt.Sprintf("omnilink: cannot record: %v", err))
	}
}

// numberOf defines an action before its first use.
func (p *Process) numberOf(action *Action) uint64 {
	for number, known := range p.actions {
		if known == action {
			return uint64(number)
		}
	}
	number := uint64(len(p.actions))
	body := appendString(binary.AppendUvarint(append(p.body[:0], kindAction), number), action.Name)
	for _, names := range [][]string{action.Arguments, action.Results} {
		body = binary.AppendUvarint(body, uint64(len(names)))
		for _, name := range names {
			body = appendString(body, name)
		}
	}
	p.record(body)
	p.actions = append(p.actions, action)
	return number
}

func (p *Process) continueElsewhere() {
	before := *p
	for taken := true; taken; {
		p.continuations++
		var err error
		if taken, err = p.enter(fmt.Sprintf("%s+%d", p.name, p.continuations)); err != nil {
			panic(fmt.Sprintf("omnilink: cannot record: %v", err))
		}
	}
	if err := before.Close(); err != nil {
		panic(fmt.Sprintf("omnilink: cannot record: %v", err))
	}
}

// enter begins a segment, unless the name is taken.
func (p *Process) enter(name string) (taken bool, err error) {
	r := p.recorder
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.names[name] {
		return true, nil
	}
	segment, err := newSegment(filepath.Join(r.directory, fmt.Sprintf("%03d.seg", len(r.names))), name)
	if err != nil {
		return false, err
	}
	r.names[name] = true
	p.segment, p.actions, p.operations, p.written, p.isOpen, p.isUnfinished = segment, nil, 0, 0, false, false
	return false, nil
}

func expect(action *Action, names []string, values []any) {
	if len(names) != len(values) {
		panic(fmt.Sprintf("omnilink: `%s` expects %d values, and %d are given", action.Name, len(names), len(values)))
	}
}

func max(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}

// A segment is a file of records, mapped shared. The window is its mapped part; everything behind `at` is zero.
type segment struct {
	file   *os.File
	window []byte
	offset int64 // Of the window in the file.
	at     int   // The end of the records in the window.
}

const (
	windowSize    = 1 << 20
	longestRecord = 1 << 24
)

func newSegment(path, process string) (*segment, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	s := &segment{file: file}
	header := append([]byte("\x89OMNISEG\x01"), byte(len(process)))
	header = append(header, process...)
	if err := s.reserve(len(header) + 1); err != nil {
		return nil, err
	}
	copy(s.window[1:], header[1:])
	publish(&s.window[0], header[0])
	s.at = len(header)
	return s, nil
}

// append publishes a record: its first byte comes last.
func (s *segment) append(body []byte) error {
	if len(body) > longestRecord {
		return errors.New("a record has at most 16777216 bytes")
	}
	prefix, first := 1, byte(len(body))
	if len(body) >= 255 {
		prefix, first = 5, 255
	}
	if err := s.reserve(prefix + len(body) + 1); err != nil {
		return err
	}
	to := s.window[s.at:]
	copy(to[prefix:], body)
	if prefix == 5 {
		binary.LittleEndian.PutUint32(to[1:], uint32(len(body)))
	}
	publish(&to[0], first)
	s.at += prefix + len(body)
	return nil
}

// publish is a function of its own so that the compiler does not move the store before those of the body.
//
//go:noinline
func publish(to *byte, first byte) { *to = first }

// reserve moves the window if fewer bytes are left in it. The file is extended by writing zeros: a full disk is then an error
// here, and not a fault at a later store.
func (s *segment) reserve(count int) error {
	if s.at+count <= len(s.window) {
		return nil
	}
	page := os.Getpagesize()
	offset := (s.offset + int64(s.at)) / int64(page) * int64(page)
	at := int(s.offset + int64(s.at) - offset)
	size := (at + count + windowSize - 1) / windowSize * windowSize
	end := s.offset + int64(len(s.window))
	if _, err := s.file.WriteAt(make([]byte, offset+int64(size)-end), end); err != nil {
		return err
	}
	window, err := syscall.Mmap(int(s.file.Fd()), offset, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	if s.window != nil {
		if err := syscall.Munmap(s.window); err != nil {
			return err
		}
	}
	s.window, s.offset, s.at = window, offset, at
	return nil
}

func (s *segment) close() error {
	end := s.offset + int64(s.at)
	if err := syscall.Munmap(s.window); err != nil {
		return err
	}
	if err := s.file.Truncate(end); err != nil {
		return err
	}
	return s.file.Close()
}
