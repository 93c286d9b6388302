package omnilink;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** Tests the recorder of transactions. The command {@code omnilink} checks their isolation. */
final class TransactionsTest {
  private TransactionsTest() {}

  /** What a test does with a recorder. */
  private interface Act {
    void run(Transactions recorder) throws Exception;
  }

  static void lostUpdate(Path directory) throws Exception {
    String verdict = check(directory.resolve("txns.jsonl"), "snapshot", recorder -> {
      List<Transactions.Transaction> txns = List.of(recorder.session("a").begin(), recorder.session("b").begin());
      for (int i = 0; i < 2; i++) {
        txns.get(i).read("x", null);
        txns.get(i).write("x", i + 1);
      }
      txns.forEach(Transactions.Transaction::committed);
    });
    RecorderTest.expect(true, verdict.startsWith("rejected, not snapshot: lost update"));
  }

  static void outcomes(Path directory) throws Exception {
    Path path = directory.resolve("txns.jsonl");
    String verdict = check(path, "strict-serializable", recorder -> {
      Transactions.Session session = recorder.session("a");
      for (int element = 0; element < 2; element++) {
        try (Transactions.Transaction txn = session.begin()) {
          txn.append("l", element);
          if (element == 1) {
            txn.committing();
          }
          throw new IOException("timeout");
        } catch (IOException expected) {
          RecorderTest.expect("timeout", expected.getMessage());
        }
      }
      try (Transactions.Transaction txn = session.begin()) {
        txn.read("l", List.of(1));
        txn.write("\"", -0.5);
        txn.committing();
        RecorderTest.expectError("the transaction is committing", () -> txn.write("x", 1));
        txn.stamp("commit_ts", 7);
        txn.committed();
        RecorderTest.expectError("already committed", txn::aborted);
      }
      RecorderTest.expectError("is null, a truth value", () -> session.begin().write("x", List.of(1)));
      RecorderTest.expectError("session `a` already exists", () -> recorder.session("a"));
    });
    RecorderTest.expect(true, verdict.startsWith("accepted, strict-serializable"));
    RecorderTest.expect(List.of(
        "{\"process\": \"a\", \"txn\": [[\"append\", \"l\", 0]], \"start\": 1, \"end\": 2, \"status\": \"aborted\"}",
        "{\"process\": \"a\", \"txn\": [[\"append\", \"l\", 1]], \"start\": 3, \"status\": \"unknown\"}",
        "{\"process\": \"a\", \"txn\": [[\"r\", \"l\", [1]], [\"w\", \"\\\"\", -0.5]], \"start\": 4, \"end\": 5, "
            + "\"status\": \"committed\", \"commit_ts\": 7}"), lines(path));
  }

  static void longLines(Path directory) throws Exception {
    Path path = directory.resolve("txns.jsonl");
    String verdict = check(path, "serializable", recorder -> {
      Transactions.Transaction many = recorder.session("a").begin();
      Transactions.Transaction one = recorder.session("b").begin();
      for (int element = 0; element < 2000; element++) {
        many.append("l", element);
      }
      many.committing();
      one.write("x", 1);
      one.committing();
      RecorderTest.expect(2, lines(path).size());
      one.stamp("note", String.join("", Collections.nCopies(500, "1")));
      one.committed();
      many.committed();
    });
    RecorderTest.expect(true, verdict.startsWith("accepted, serializable"));
    RecorderTest.expect(2L, lines(path).stream().filter(line -> line.contains("\"status\": \"committed\"")).count());
  }

  /** The lines of a file that are neither empty nor comments. */
  private static List<String> lines(Path path) throws IOException {
    return Files.readAllLines(path).stream().map(String::strip).filter(line -> !line.isEmpty() && line.charAt(0) != '#')
        .collect(Collectors.toList());
  }

  private static String check(Path path, String level, Act act) throws Exception {
    AtomicLong time = new AtomicLong();
    try (Transactions recorder = new Transactions(path, time::incrementAndGet)) {
      act.run(recorder);
    }
    List<String> command = new ArrayList<>(List.of(System.getenv().getOrDefault("OMNILINK", "omnilink")));
    command.addAll(List.of("check", "--isolation", level, path.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), "UTF-8");
    process.waitFor();
    return output.replaceFirst("^.*txns.jsonl: ", "");
  }
}
