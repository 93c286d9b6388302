//go:build unix

package omnilink

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The language of scripts is described in recorders/cpp/test/script.cpp. The scripts in tests/golden/recorder have the
// expected segments beside them.

var words = regexp.MustCompile(`--|[\[\]{}()]|"(?:\\.|[^"\\])*"|\w+=|[^\s\[\]{}()]+`)

// A script records its calls. The clock shows the time that it sets.
type script struct {
	lines     []string
	recorder  *Recorder
	now       uint64
	actions   map[string]*Action
	processes map[string]*Process
	calls     map[string]Call
	current   string
}

func run(text, directory string) error {
	s := &script{lines: strings.Split(text, "\n"), actions: map[string]*Action{}, processes: map[string]*Process{}, calls: map[string]Call{}}
	recorder, err := create(directory, func() uint64 { return s.now })
	if err != nil {
		return err
	}
	s.recorder = recorder
	for index, line := range s.lines {
		if command, rest, _ := strings.Cut(line, " "); command != "" && command != "#" {
			if err := s.step(command, rest, index); err != nil {
				return fmt.Errorf("line %d: %w", index+1, err)
			}
		}
	}
	return recorder.Close()
}

func (s *script) step(command, rest string, index int) (err error) {
	row := &row{words: words.FindAllString(rest, -1)}
	switch command {
	case "process":
		s.current = rest
		if s.processes[rest] == nil {
			s.processes[rest], err = s.recorder.Process(rest)
		}
	case "time":
		s.now, err = strconv.ParseUint(rest, 10, 64)
	case "close":
		err = s.processes[rest].Close()
	case "call", "named":
		name := row.take()
		row.read()
		action := s.action(name, row.names, s.resultsAfter(index))
		s.calls[s.current] = s.processes[s.current].Call(action, row.values...)
	case "done":
		row.read()
		s.calls[s.current].Return(row.values...)
	case "as":
		name := row.take()
		row.read()
		arguments := *row
		row.names, row.values = nil, nil
		row.read()
		s.calls[s.current].ReturnAs(s.action(name, arguments.names, row.names), arguments.values, row.values)
	case "meta":
		key := row.take()
		s.calls[s.current].Meta(key, row.value())
	case "failed":
		s.calls[s.current].Failed()
	case "unknown":
		s.calls[s.current].UnknownByNow()
	case "refine_start":
		s.calls[s.current].RefineStart()
	case "refine_end":
		s.calls[s.current].RefineEnd()
	case "drop":
	default:
		err = fmt.Errorf("unknown command `%s`", command)
	}
	return err
}

func (s *script) action(name string, arguments, results []string) *Action {
	key := fmt.Sprintf("%q %q %q", name, arguments, results)
	if s.actions[key] == nil {
		s.actions[key] = &Action{name, arguments, results}
	}
	return s.actions[key]
}

// resultsAfter returns the names of the results of the call in a line.
func (s *script) resultsAfter(index int) []string {
	process := s.current
	for _, line := range s.lines[index+1:] {
		command, rest, _ := strings.Cut(line, " ")
		switch {
		case command == "process":
			process = rest
		case command == "close" && rest == s.current:
			return nil
		case process == s.current && strings.Contains(" done as failed drop unknown call named ", " "+command+" "):
			row := &row{words: words.FindAllString(rest, -1)}
			if command == "done" {
				row.read()
			}
			return row.names
		}
	}
	return nil
}

// A row is the values of a line, each with a name or an empty one.
type row struct {
	words  []string
	names  []string
	values []any
}

func (r *row) take() string {
	word := r.words[0]
	r.words = r.words[1:]
	return word
}

// read takes the values up to `--` or the end.
func (r *row) read() {
	for len(r.words) > 0 {
		if r.words[0] == "--" {
			r.take()
			return
		}
		name := ""
		if strings.HasSuffix(r.words[0], "=") {
			name = strings.TrimSuffix(r.take(), "=")
		}
		r.names = append(r.names, name)
		r.values = append(r.values, r.value())
	}
}

func (r *row) value() any {
	switch word := r.take(); {
	case word == "[":
		return r.items("]")
	case word == "{":
		return Set(r.items("}"))
	case word == "(":
		items, pairs := r.items(")"), map[any]any{}
		for i := 0; i < len(items); i += 2 {
			pairs[items[i]] = items[i+1]
		}
		return pairs
	case word[0] == '"':
		return regexp.MustCompile(`\\(.)`).ReplaceAllString(word[1:len(word)-1], "$1")
	case word == "nil":
		return nil
	case word == "true", word == "false":
		return word == "true"
	case strings.ContainsAny(word, ".eE"):
		return must(strconv.ParseFloat(word, 64))
	case word[0] == '-':
		return must(strconv.ParseInt(word, 10, 64))
	default:
		return must(strconv.ParseUint(word, 10, 64))
	}
}

func (r *row) items(closing string) []any {
	items := []any{}
	for r.words[0] != closing {
		items = append(items, r.value())
	}
	r.take()
	return items
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func segments(t *testing.T, directory string) map[string]string {
	found := map[string]string{}
	for _, path := range must(filepath.Glob(filepath.Join(directory, "*.seg"))) {
		found[filepath.Base(path)] = fmt.Sprintf("%x", must(os.ReadFile(path)))
	}
	return found
}

func TestSegmentsHaveTheSameBytesAsThoseOfOtherRecorders(t *testing.T) {
	scripts := must(filepath.Glob("../../tests/golden/recorder/*.script"))
	if len(scripts) < 13 {
		t.Fatalf("%d scripts", len(scripts))
	}
	for _, path := range scripts {
		expected := strings.TrimSuffix(path, ".script")
		t.Run(filepath.Base(expected), func(t *testing.T) {
			directory := t.TempDir()
			if err := run(string(must(os.ReadFile(path))), directory); err != nil {
				t.Fatal(err)
			}
			if found, expected := segments(t, directory), segments(t, expected); fmt.Sprint(found) != fmt.Sprint(expected) {
				t.Errorf("found %s\nexpected %s", found, expected)
			}
		})
	}
}
