package omnilink;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Tests the recorder, without a test framework: {@code java omnilink.RecorderTest}. With an argument, it is the program that is
 * killed. Traces are read by the command {@code omnilink}, in PATH or named by the variable OMNILINK.
 */
final class RecorderTest {
  /** A test, with a directory for its traces. */
  private interface Test {
    void run(Path directory) throws Exception;
  }

  private static final List<Test> TESTS = List.of(RecorderTest::outcomes, RecorderTest::shared, RecorderTest::values, RecorderTest::misuse,
      RecorderTest::longOutcomes, RecorderTest::appended, RecorderTest::threads, RecorderTest::kills, TransactionsTest::lostUpdate,
      TransactionsTest::outcomes, TransactionsTest::longLines);

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) {
      recordUntilKilled(Path.of(arguments[0]));
    }
    for (Test test : TESTS) {
      Path directory = Files.createTempDirectory("omnilink-java");
      try {
        test.run(directory);
      } finally {
        try (var files = Files.list(directory)) {
          for (Path file : files.collect(Collectors.toList())) {
            Files.delete(file);
          }
        }
        Files.delete(directory);
      }
    }
    System.out.println(TESTS.size() + " passed, 0 failed");
  }

  private static void shared(Path directory) throws Exception {
    long before = System.currentTimeMillis();
    List<Long> starts = new ArrayList<>();
    for (String name : List.of("a", "b")) {
      Path path = directory.resolve(name + ".jsonl");
      try (Recorder recorder = Recorder.shared(path)) {
        try (Recorder.Operation op = recorder.client(name).begin("tick")) {
          op.returns();
        }
      }
      String line = Files.readString(path);
      String start = line.substring(line.indexOf("\"start\":") + 8).trim().split("[^0-9]")[0];
      starts.add(Long.parseLong(start) / 1_000_000);
    }
    if (starts.get(0) < before || starts.get(1) < starts.get(0) || starts.get(1) - before > 60_000) {
      throw new AssertionError(before + " " + starts);
    }
  }

  private static void outcomes(Path directory) throws Exception {
    Path path = directory.resolve("trace.jsonl");
    long[] now = {0};
    try (Recorder recorder = new Recorder(path, () -> now[0]++)) {
      Recorder.Client client = recorder.client("c1");
      try (Recorder.Operation op = client.begin("write", Recorder.named("key", 1, "value", 2))) {
        op.returns();
      }
      try (Recorder.Operation op = client.begin("write", 3)) {
        op.meta("tries", 1);
        throw new TimeoutException();
      } catch (TimeoutException expected) {
        // The write may still take effect.
      }
      try (Recorder.Operation op = client.begin("write", 4)) {
        op.meta("node", "n1");
        op.failed();
      }
      try (Recorder.Operation op = client.begin("read")) {
        op.returns(5);
      }
      try (Recorder.Operation op = client.begin("dequeue")) {
        op.returnsAs("dequeue_empty", Map.of("queue", 1), Map.of("empty", true));
      }
    }
    expect(List.of(
        "c1 [0 1] write(key: 1, value: 2)",
        "c1 [2 ...] write(3) | tries: 1",
        "c1+1 [3 4] write(4) failed | node: \"n1\"",
        "c1+1 [5 6] read() = 5",
        "c1+1 [7 8] dequeue_empty(queue: 1) = empty: TRUE"), operations(path));
  }

  private static void values(Path directory) throws Exception {
    Path path = directory.resolve("trace.jsonl");
    BigInteger large = BigInteger.ONE.shiftLeft(64);
    try (Recorder recorder = new Recorder(path, () -> 0)) {
      Recorder.Client client = recorder.client("größe \"☃\"");
      client.begin("a", null, true, (byte) 1, -1L, large, 1.5, "a\"\\\n\u0001🚀").returns();
      client.begin("b", List.of(1, List.of()), Set.of(7), new TreeMap<>(Map.of(0, "x", 2, "y"))).returns();
      client.begin("c", List.of(Recorder.named("k", 1)), Recorder.named("#set", 2)).returns(nested(32));
    }
    List<String> found = operations(path);
    expect("\"größe \\\"☃\\\"\" [0 0] a(nil, TRUE, 1, -1, 18446744073709551616, 1.5, \"a\\\"\\\\\\n\\u{1}🚀\")",
        found.get(0));
    expect("\"größe \\\"☃\\\"\" [0 0] b(<<1, <<>>>>, {7}, (0 :> \"x\" @@ 2 :> \"y\"))", found.get(1));
    String deep = "<<".repeat(32) + "0" + ">>".repeat(32);
    expect("\"größe \\\"☃\\\"\" [0 0] c(<<[k |-> 1]>>, (\"#set\" :> 2)) = " + deep + "", found.get(2));
  }

  private static Object nested(int depth) {
    Object value = 0;
    for (int i = 0; i < depth; i++) {
      value = List.of(value);
    }
    return value;
  }

  private static void misuse(Path directory) throws Exception {
    Path path = directory.resolve("trace.jsonl");
    try (Recorder recorder = new Recorder(path)) {
      Recorder.Client client = recorder.client("c1");
      expectError("already exists", () -> recorder.client("c1"));
      for (Object value : Arrays.asList(Double.NaN, Float.POSITIVE_INFINITY, "\ud800", new Object(), nested(33))) {
        expectError("", () -> client.begin("write", value));
      }
      Recorder.Operation op = client.begin("write", 1);
      expectError("one is open", () -> client.begin("write", 2));
      op.returns();
      expectError("already has an outcome", () -> op.failed());
    }
    try {
      new Recorder(path).close();
      throw new AssertionError("a trace was overwritten");
    } catch (FileAlreadyExistsException expected) {
      expect(1, operations(path).size());
    }
  }

  private static void longOutcomes(Path directory) throws Exception {
    Path path = directory.resolve("trace.jsonl");
    try (Recorder recorder = new Recorder(path)) {
      Recorder.Client client = recorder.client("c1");
      for (int length : List.of(5000, 300, 10, 500)) {
        client.begin("read").returns("x".repeat(length));
      }
    }
    List<String> lines = Files.readAllLines(path).stream().filter(line -> !line.isEmpty()).collect(Collectors.toList());
    expect("#{{{{{", lines.stream().map(line -> line.substring(0, 1)).collect(Collectors.joining()));
    expect(4, operations(path).size());
  }

  private static void threads(Path directory) throws Exception {
    Path path = directory.resolve("trace.jsonl");
    try (Recorder recorder = new Recorder(path)) {
      List<Thread> threads = new ArrayList<>();
      for (int number = 0; number < 4; number++) {
        Recorder.Client client = recorder.client("c" + number);
        threads.add(new Thread(() -> {
          for (int i = 0; i < 500; i++) {
            Thread.currentThread().interrupt(); // Must not close the file.
            try (Recorder.Operation op = client.begin("write", Recorder.named("key", "x", "value", i))) {
              op.returns();
            }
          }
        }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
    }
    byte[] bytes = Files.readAllBytes(path);
    for (int at = 4096; at < bytes.length; at += 4096) {
      expect((byte) '\n', bytes[at - 1]);
    }
    expect(2000, operations(path).size());
  }

  private static void recordUntilKilled(Path path) throws IOException {
    Recorder.Client client = new Recorder(path).client("c1");
    for (int i = 0;; i++) {
      System.out.println(i);
      try (Recorder.Operation op = client.begin("write", i)) {
        op.returns("x".repeat(i % 40));
      }
    }
  }

  /** Lines that are appended never change, and the last one of a process has the number of its operations. */
  private static void appended(Path directory) throws Exception {
    Path path = directory.resolve("trace.jsonl");
    String before = "";
    try (Recorder recorder = Recorder.appending(path)) {
      Recorder.Client client = recorder.client("c1");
      for (int number = 0; number < 3; number++) {
        try (Recorder.Operation op = client.begin("write", number)) {
          if (number != 1) {
            op.returns();
          }
        }
        String now = Files.readString(path);
        expect(true, now.startsWith(before) && now.endsWith("}\n"));
        before = now;
      }
    }
    String now = Files.readString(path);
    expect(true, now.startsWith(before) && now.endsWith("\"operations\": 1, \"is_last\": true}\n"));
    expect(3, operations(path).size());
  }

  /** A killed program loses nothing: it prints the number of each operation before it begins. */
  private static void kills(Path directory) throws Exception {
    for (int attempt = 0; attempt < 5; attempt++) {
      kill(directory.resolve(attempt + ".jsonl"), attempt);
    }
  }

  private static void kill(Path path, int attempt) throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classes = System.getProperty("java.class.path");
    Process victim = new ProcessBuilder(java, "-cp", classes, RecorderTest.class.getName(), path.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var output = victim.inputReader();
    String last = output.readLine();
    new Thread(() -> {
      try {
        TimeUnit.MILLISECONDS.sleep(60L * attempt * attempt);
      } catch (InterruptedException unexpected) {
        throw new AssertionError(unexpected);
      }
      // `victim.destroyForcibly()` would close the stream that is being read.
      victim.toHandle().destroyForcibly();
    }).start();
    int printed = 1;
    for (String line = output.readLine(); line != null; line = output.readLine(), printed++) {
      last = line;
    }
    victim.waitFor();
    List<String> found = operations(path);
    // The last operation may have begun, and its number may have been printed in part.
    expect(true, found.size() == printed || found.size() == printed - 1 || found.size() == printed - 2);
    for (int i = 0; i < found.size(); i++) {
      boolean isOpen = found.get(i).contains("...]");
      expect(true, found.get(i).contains("write(" + i + ")") && (!isOpen || i == found.size() - 1));
    }
    expect(false, last.isEmpty());
  }

  private static List<String> operations(Path path) throws Exception {
    String command = System.getenv().getOrDefault("OMNILINK", "omnilink");
    Process process = new ProcessBuilder(command, "convert", path.toString(), "--to", "text").start();
    List<String> lines = process.inputReader(java.nio.charset.StandardCharsets.UTF_8).lines().collect(Collectors.toList());
    String problem = new String(process.getErrorStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new AssertionError(problem);
    }
    return lines;
  }

  static void expect(Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new AssertionError("expected " + expected + "\nfound    " + found);
    }
  }

  static void expectError(String message, Runnable run) {
    try {
      run.run();
    } catch (IllegalArgumentException | IllegalStateException error) {
      expect(true, error.getMessage().contains(message));
      return;
    }
    throw new AssertionError("expected an error with `" + message + "`");
  }
}
