//go:build unix

package omnilink

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	write = &Action{Name: "write", Arguments: []string{"key", "value"}}
	read  = &Action{Name: "read", Arguments: []string{"key"}, Results: []string{"value"}}
)

// operations returns the lines of a trace as text. It needs the command `omnilink`, in PATH or named by the variable OMNILINK.
func operations(t *testing.T, trace string) []string {
	t.Helper()
	command := os.Getenv("OMNILINK")
	if command == "" {
		command = "omnilink"
	}
	var output, problem strings.Builder
	run := exec.Command(command, "convert", trace, "--to", "text")
	run.Stdout, run.Stderr = &output, &problem
	if err := run.Run(); err != nil {
		t.Fatal(err, problem.String())
	}
	return strings.FieldsFunc(output.String(), func(c rune) bool { return c == '\n' })
}

// counter is a clock that ticks whenever it is read.
func counter() func() uint64 {
	now := uint64(0)
	return func() uint64 { now++; return now }
}

func TestACallWithoutAnOutcomeIsUnfinished(t *testing.T) {
	directory := t.TempDir()
	recorder := must(create(directory, counter()))
	client := must(recorder.Process("c1"))
	client.Call(write, "x", 1)
	client.Call(write, "x", 2).Failed()
	client.Call(read, "x").Return(int8(1))
	stale := client.Call(write, "x", []string{"a"})
	client.Call(write, "x", map[string]uint{"b": 1, "a": 2}).Return()
	expectPanic(t, "another call of its process began", func() { stale.Return() })
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	expected := `c1 [1 ...] write(key: "x", value: 1)
c1+1 [2 3] write(key: "x", value: 2) failed
c1+1 [4 5] read(key: "x") = value: 1
c1+1 [6 ...] write(key: "x", value: <<"a">>)
c1+2 [7 8] write(key: "x", value: [a |-> 2, b |-> 1])`
	if found := strings.Join(operations(t, directory), "\n"); found != expected {
		t.Errorf("found\n%s\nexpected\n%s", found, expected)
	}
}

func expectPanic(t *testing.T, message string, run func()) {
	t.Helper()
	defer func() {
		if found := fmt.Sprint(recover()); !strings.Contains(found, message) {
			t.Errorf("found `%s`, expected `%s`", found, message)
		}
	}()
	run()
}

func TestTracesOfSeveralProgramsShareTheirTime(t *testing.T) {
	before := uint64(time.Now().UnixNano())
	starts := []uint64{}
	for _, name := range []string{"a", "b"} {
		recorder, err := CreateShared(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, recorder.clock())
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if starts[0] < before || starts[1] < starts[0] || starts[1]-before > uint64(time.Minute) {
		t.Fatal(before, starts)
	}
}

func TestMisuseIsAPanicAndLeavesTheTraceReadable(t *testing.T) {
	directory := t.TempDir()
	recorder := must(Create(directory))
	client := must(recorder.Process("c1"))
	if _, err := recorder.Process("c1"); err == nil {
		t.Error("two processes have one name")
	}
	if _, err := Create(directory); err == nil {
		t.Error("a trace was overwritten")
	}
	expectPanic(t, "expects 2 values, and 1 are given", func() { client.Call(write, 1) })
	expectPanic(t, "finite", func() { client.Call(write, 1, math.NaN()) })
	expectPanic(t, "UTF-8", func() { client.Call(write, 1, "\xff") })
	expectPanic(t, "type `chan int`", func() { client.Call(write, 1, make(chan int)) })
	expectPanic(t, "16777216", func() { client.Call(write, 1, strings.Repeat("x", longestRecord)) })
	deep := []any{}
	for i := 0; i < 32; i++ {
		deep = []any{deep}
	}
	expectPanic(t, "32 deep", func() { client.Call(write, 1, deep) })
	call := client.Call(write, 1, deep[0])
	call.Return()
	expectPanic(t, "has an outcome", func() { call.Failed() })
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if found := operations(t, directory); len(found) != 1 {
		t.Errorf("%d operations", len(found))
	}
}

func TestManyWindows(t *testing.T) {
	directory := t.TempDir()
	recorder := must(Create(directory))
	client := must(recorder.Process("c1"))
	for i := 0; i < 40; i++ {
		client.Call(write, i, strings.Repeat("x", i*10_000)).Return()
		client.Call(read, i).Return(strings.Repeat("y", windowSize-20+i))
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	lines := operations(t, directory)
	if len(lines) != 80 {
		t.Fatalf("%d operations", len(lines))
	}
	for i := 0; i < 40; i++ {
		written, returned := strings.Repeat("x", i*10_000), strings.Repeat("y", windowSize-20+i)
		if !strings.HasSuffix(lines[2*i], "\""+written+"\")") || !strings.HasSuffix(lines[2*i+1], "\""+returned+"\"") {
			t.Errorf("operation %d was damaged", 2*i)
		}
	}
}

// TestMain is also the program that is killed: it prints the number of each operation before it begins.
func TestMain(m *testing.M) {
	directory := os.Getenv("OMNILINK_TEST_VICTIM")
	if directory == "" {
		os.Exit(m.Run())
	}
	client := must(must(Create(directory)).Process("c1"))
	for i := 0; ; i++ {
		fmt.Println(i)
		client.Call(write, i, strings.Repeat("x", i%400)).Return()
	}
}

func TestAKilledProgramLosesNothing(t *testing.T) {
	for attempt := 0; attempt < 10; attempt++ {
		directory := filepath.Join(t.TempDir(), "trace")
		victim := exec.Command(os.Args[0])
		victim.Env = append(os.Environ(), "OMNILINK_TEST_VICTIM="+directory)
		output := must(victim.StdoutPipe())
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		last, lines := 0, bufio.NewScanner(output)
		for lines.Scan() {
			if last == 0 {
				time.AfterFunc(time.Duration(attempt*attempt)*time.Millisecond, func() { victim.Process.Kill() })
			}
			fmt.Sscan(lines.Text(), &last)
		}
		victim.Wait()
		found := operations(t, directory)
		// The last operation that was printed may have begun.
		if len(found) != last && len(found) != last+1 {
			t.Errorf("%d operations, and %d were printed", len(found), last+1)
		}
		for i, line := range found {
			isOpen := strings.Contains(line, "...]")
			if !strings.Contains(line, fmt.Sprintf("key: %d,", i)) || isOpen && i < last {
				t.Fatalf("operation %d is %s", i, line)
			}
		}
	}
}

// measure reports the processor time of an operation, which other programs on the machine disturb less than the time of day.
func measure(b *testing.B, run func(i int)) {
	processor := func() int64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return usage.Utime.Nano() + usage.Stime.Nano()
	}
	b.ReportAllocs()
	before := processor()
	for i := 0; i < b.N; i++ {
		run(i)
	}
	b.ReportMetric(float64(processor()-before)/float64(b.N), "cpu-ns/op")
}

func BenchmarkRecord(b *testing.B) {
	recorder := must(Create(b.TempDir()))
	client := must(recorder.Process("c1"))
	measure(b, func(i int) { client.Call(read, i).Return(i) })
	if err := recorder.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkTwoClockReadings(b *testing.B) {
	base := time.Now()
	measure(b, func(int) { _, _ = time.Since(base), time.Since(base) })
}
