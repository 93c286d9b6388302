//go:build unix

package omnilink

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checked records transactions, and returns the path of the file and the verdict about a level.
func checked(t *testing.T, level string, act func(recorder *Transactions)) (path, verdict string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "txns.jsonl")
	recorder := must(createTransactions(path, counter()))
	act(recorder)
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	command := os.Getenv("OMNILINK")
	if command == "" {
		command = "omnilink"
	}
	output, err := exec.Command(command, "check", "--isolation", level, path).CombinedOutput()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return path, strings.TrimPrefix(string(output), path+": ")
}

// linesOf returns the lines of a file that are neither empty nor comments.
func linesOf(t *testing.T, path string) (lines []map[string]any) {
	t.Helper()
	for _, text := range strings.Split(string(must(os.ReadFile(path))), "\n") {
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err, text)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestALostUpdateIsFound(t *testing.T) {
	_, verdict := checked(t, "snapshot", func(recorder *Transactions) {
		first, second := must(recorder.Session("a")).Begin(), must(recorder.Session("b")).Begin()
		for value, txn := range []*Transaction{first, second} {
			txn.Read("x", nil)
			txn.Write("x", value+1)
		}
		first.Committed()
		second.Committed()
	})
	if !strings.HasPrefix(verdict, "rejected, not snapshot: lost update") {
		t.Fatal(verdict)
	}
}

func TestOutcomesFollowFromThePlaceOfTheEnd(t *testing.T) {
	path, verdict := checked(t, "strict-serializable", func(recorder *Transactions) {
		session := must(recorder.Session("a"))
		for element, isCommitting := range []bool{false, true} {
			txn := session.Begin()
			txn.Append("l", element)
			if isCommitting {
				txn.Committing()
			}
			txn.End()
		}
		txn := session.Begin()
		txn.Read("l", []int{1})
		txn.Write("<\"", -0.5)
		txn.Committing()
		expectPanic(t, "the transaction is committing", func() { txn.Write("x", 1) })
		txn.Stamp("commit_ts", 7)
		txn.Committed()
		txn.End()
		expectPanic(t, "already committed", txn.Aborted)
		expectPanic(t, "cannot be recorded", func() { session.Begin().Write("x", []int{1}) })
		if _, err := recorder.Session("a"); err == nil {
			t.Fatal("two sessions have the same name")
		}
	})
	if !strings.HasPrefix(verdict, "accepted, strict-serializable") {
		t.Fatal(verdict)
	}
	for i, status := range []string{"aborted", "unknown", "committed"} {
		line := linesOf(t, path)[i]
		if _, hasEnd := line["end"]; line["status"] != status || hasEnd != (status != "unknown") {
			t.Fatal(line)
		}
	}
	if last := linesOf(t, path)[2]; last["commit_ts"] != 7.0 {
		t.Fatal(last)
	}
}

func TestLongTransactionsDoNotOverwriteOthers(t *testing.T) {
	path, verdict := checked(t, "serializable", func(recorder *Transactions) {
		long, short := must(recorder.Session("a")).Begin(), must(recorder.Session("b")).Begin()
		for i := 0; i < 2000; i++ {
			long.Append("l", i)
		}
		long.Committing()
		short.Write("x", 1)
		short.Committing()
		if statuses := linesOf(t, recorder.file.Name()); len(statuses) != 2 || statuses[0]["status"] != "unknown" {
			t.Fatal(statuses)
		}
		short.Stamp("note", strings.Repeat("1", 500))
		short.Committed()
		long.Committed()
	})
	if lines := linesOf(t, path); !strings.HasPrefix(verdict, "accepted") || len(lines) != 2 || lines[0]["status"] != "committed" || lines[1]["status"] != "committed" {
		t.Fatal(len(lines), verdict)
	}
}
