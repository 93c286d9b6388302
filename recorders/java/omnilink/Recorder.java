package omnilink;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.LongSupplier;

/**
 * Records the operations of a concurrent program as JSON Lines, so that OmniLink can decide whether a specification allows
 * them.
 *
 * <pre>{@code
 * try (Recorder recorder = new Recorder(Path.of("trace.jsonl"))) {
 *   Recorder.Client client = recorder.client("c1"); // one for each thread or connection
 *   try (Recorder.Operation op = client.begin("write", Recorder.named("key", 1, "value", 2))) {
 *     store.write(1, 2);
 *     op.returns();
 *   }
 *   try (Recorder.Operation op = client.begin("read", Recorder.named("key", 1))) {
 *     op.returns(Recorder.named("value", store.read(1)));
 *   }
 * }
 * }</pre>
 *
 * <p>The outcome of an operation is unknown unless the block says {@code returns}, {@code returnsAs} or {@code failed}: an
 * exception, such as a timeout, leaves it unfinished. No operation may follow an unfinished one in its process, so the client
 * then continues as another process, named {@code c1+1} after {@code c1}.
 *
 * <p>An operation is handed to the kernel when it begins and again when it ends, without a buffer in between, so a program that
 * is killed loses nothing. It is a line with spaces behind it; its outcome replaces the line, or turns it into a comment if it
 * does not fit. {@code seq} counts the operations of a process, and its last line has their number: a missing one is a lost
 * line.
 *
 * <p>{@link #appending} never changes a line, so that its output can be sent through a pipe while the program runs. It writes
 * how far a process is when an operation begins, and the operation when it ends; one that is open when the program is killed is
 * lost.
 *
 * <p>Values are null, truth values, integers, finite numbers, strings, lists, sets and maps. FORMAT.md specifies the format.
 */
public final class Recorder implements AutoCloseable {
  private static final int DEEPEST = 32; // Nesting of values.
  private static final int ROOM = 96; // Spaces behind an open operation, until a longer outcome was seen.
  private static final int PAGE = 4096; // A killed process may write a part of its bytes, but not of those in one page.

  private final RandomAccessFile file; // Unlike a channel, it survives the interrupt of a thread. Null if lines are appended.
  private final OutputStream stream; // Null if lines are replaced.
  private final List<Client> clients = new ArrayList<>();
  private final LongSupplier clock;
  private final Set<String> names = new HashSet<>();
  private long size;

  /** Creates the file, which must not exist. Times are nanoseconds since then. */
  public Recorder(Path path) throws IOException {
    this(path, sinceNow());
  }

  /**
   * Creates the file of a program that is one of several. Times are nanoseconds since 1970: the time of day now, and a monotonic
   * clock since then. So traces of several programs can be joined, as far as the time of day of their machines agrees and was not
   * set between their starts.
   */
  public static Recorder shared(Path path) throws IOException {
    long base = System.nanoTime();
    long day = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
    return new Recorder(path, () -> day + (System.nanoTime() - base));
  }

  Recorder(Path path, LongSupplier clock) throws IOException {
    this(path, clock, false);
  }

  private Recorder(Path path, LongSupplier clock, boolean appends) throws IOException {
    if (!appends || !Files.exists(path) || Files.isRegularFile(path)) {
      Files.createFile(path);
    }
    this.file = appends ? null : new RandomAccessFile(path.toFile(), "rw");
    this.stream = appends ? new FileOutputStream(path.toFile()) : null;
    this.clock = clock;
  }

  /** Creates the file, or writes to a pipe with a name, and never changes a line. */
  public static Recorder appending(Path path) throws IOException {
    return new Recorder(path, sinceNow(), true);
  }

  static LongSupplier sinceNow() {
    long base = System.nanoTime();
    return () -> System.nanoTime() - base;
  }

  /** Begins a process. No two processes of a trace have the same name. */
  public Client client(String name) {
    if (!take(name)) {
      throw new IllegalArgumentException("process `" + name + "` already exists");
    }
    Client client = new Client(name);
    synchronized (this) {
      clients.add(client);
    }
    return client;
  }

  /** Arguments or results with names: {@code named("key", 1, "value", 2)}. */
  public static Map<String, Object> named(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((String) pairs[i], pairs[i + 1]);
    }
    return map;
  }

  @Override
  public synchronized void close() throws IOException {
    for (Client client : clients) {
      client.end();
    }
    clients.clear();
    if (file != null) {
      file.close();
    } else {
      stream.close();
    }
  }

  /** Adds a line that is never changed. */
  private synchronized void add(String line) throws IOException {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    if (file != null) {
      append(Arrays.copyOf(bytes, bytes.length - 1), bytes.length);
    } else {
      stream.write(bytes);
    }
  }

  synchronized boolean take(String name) {
    return names.add(name);
  }

  /** Adds a line with room behind it, within one page if it fits, and returns its offset. */
  synchronized long append(byte[] line, int room) throws IOException {
    int gap = size % PAGE + room > PAGE && room <= PAGE ? (int) (PAGE - size % PAGE) : 0;
    byte[] bytes = new byte[gap + room];
    Arrays.fill(bytes, 0, gap, (byte) '\n');
    System.arraycopy(padded(line, room), 0, bytes, gap, room);
    file.seek(size);
    file.write(bytes);
    size += bytes.length;
    return size - room;
  }

  synchronized void replace(long offset, byte[] bytes) throws IOException {
    file.seek(offset);
    file.write(bytes);
  }

  static byte[] padded(byte[] line, int room) {
    byte[] bytes = Arrays.copyOf(line, room);
    Arrays.fill(bytes, line.length, room, (byte) ' ');
    bytes[room - 1] = '\n';
    return bytes;
  }

  /** A thread, a connection or a session: it runs one operation at a time. */
  public final class Client {
    private final String name;
    private final Map<String, Integer> rooms = new HashMap<>();
    private String process;
    private long latest;
    private long count;
    private int continuations;
    private Operation open;

    private Client(String name) {
      this.name = name;
      this.process = name;
    }

    /** Begins an operation, with arguments by place. */
    public Operation begin(String action, Object... arguments) {
      return begin(action, json(Arrays.asList(arguments), 0));
    }

    /** Begins an operation, with arguments by name. */
    public Operation begin(String action, Map<String, ?> arguments) {
      return begin(action, row(arguments));
    }

    private Operation begin(String action, String arguments) {
      if (open != null && !open.isUnknown) {
        throw new IllegalStateException("a process runs one operation at a time, and one is open");
      }
      if (open != null) {
        end();
      }
      while (open != null) {
        process = name + "+" + ++continuations;
        count = 0;
        open = take(process) ? null : open;
      }
      Operation operation = new Operation(this, action, arguments);
      open = operation;
      return operation;
    }

    /** Says how far the process is. */
    private String progress(long time, boolean isLast) {
      return "{\"process\": " + string(process) + ", \"progress\": " + time + ", \"operations\": " + count
          + (isLast ? ", \"is_last\": true}" : "}");
    }

    /** Says how many operations there were. */
    private void end() {
      if (stream != null && open != null && !open.isUnknown) {
        open.close();
      }
      try {
        add(progress(open == null ? latest : Math.max(latest, open.start), true));
      } catch (IOException problem) {
        throw new UncheckedIOException("cannot record", problem);
      }
    }
  }

  /** An operation that has begun. Closed without an outcome, it is unfinished. */
  public final class Operation implements AutoCloseable {
    private final Client client;
    private final long start;
    private final long seq;
    private final String began; // The action as which it began.
    private final Map<String, Object> notes = new LinkedHashMap<>();
    private String action;
    private String arguments;
    private String outcome = "";
    private long offset = -1;
    private int room;
    private boolean isUnknown;

    private Operation(Client client, String action, String arguments) {
      this.client = client;
      this.action = this.began = action;
      this.arguments = arguments;
      this.start = Math.max(clock.getAsLong(), client.latest);
      this.seq = client.count;
      write();
      client.count++;
    }

    /** It returned, with results by place. */
    public void returns(Object... results) {
      finish(results.length == 0 ? "" : ", \"results\": " + json(Arrays.asList(results), 0));
    }

    /** It returned, with results by name. */
    public void returns(Map<String, ?> results) {
      finish(", \"results\": " + row(results));
    }

    /** It returned as another action, with these arguments and results by name. */
    public void returnsAs(String action, Map<String, ?> arguments, Map<String, ?> results) {
      String text = ", \"results\": " + row(results);
      this.arguments = row(arguments);
      this.action = action;
      finish(text);
    }

    /** It is known to have had no effect. An error that leaves this open is not a failure. */
    public void failed() {
      finish(", \"failed\": true");
    }

    /** Adds a note for people to read. */
    public void meta(String key, Object value) {
      expectOpen();
      json(value, 0);
      notes.put(key, value);
      write();
    }

    @Override
    public void close() {
      if (client.open == this && !isUnknown) {
        isUnknown = true;
        outcome = ", \"outcome\": \"unknown\"";
        write();
      }
    }

    private void finish(String text) {
      expectOpen();
      client.latest = Math.max(clock.getAsLong(), start);
      outcome = ", \"end\": " + client.latest + text;
      write();
      client.open = null;
    }

    private void expectOpen() {
      if (client.open != this || isUnknown) {
        throw new IllegalStateException("the operation already has an outcome");
      }
    }

    /** Writes the line, in place of the one that is there. */
    private void write() {
      String text = "{\"process\": " + string(client.process) + ", \"action\": " + string(action) + ", \"args\": "
          + arguments + ", \"start\": " + start + outcome + ", \"seq\": " + seq
          + (notes.isEmpty() ? "" : ", \"meta\": " + row(notes)) + "}";
      byte[] line = text.getBytes(StandardCharsets.UTF_8);
      try {
        if (stream != null) {
          if (outcome.isEmpty() && notes.isEmpty()) {
            add(client.progress(start, false));
          } else if (!outcome.isEmpty()) {
            add(text);
          }
          return;
        }
        if (line.length < room) {
          replace(offset, padded(line, room));
          return;
        }
        long old = offset;
        room = Math.max(line.length + 1, Math.min(line.length + client.rooms.getOrDefault(began, ROOM), PAGE));
        offset = append(line, room);
        if (old >= 0) { // A comment now. In a program that is killed before, the operation is there twice: the check fails.
          replace(old, new byte[] {'#'});
          client.rooms.put(began, 2 * line.length);
        }
      } catch (IOException problem) {
        throw new UncheckedIOException("cannot record", problem);
      }
    }
  }

  private static String row(Map<String, ?> values) {
    StringJoiner row = new StringJoiner(", ", "{", "}");
    values.forEach((name, value) -> row.add(string(name) + ": " + json(value, 0)));
    return row.toString();
  }

  static String json(Object value, int depth) {
    if (value == null || value instanceof Boolean || value instanceof Byte || value instanceof Short
        || value instanceof Integer || value instanceof Long || value instanceof BigInteger) {
      return String.valueOf(value);
    }
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      if (Double.isNaN(number) || Double.isInfinite(number)) {
        throw new IllegalArgumentException("only finite numbers can be recorded");
      }
      return Double.toString(number);
    }
    if (value instanceof String) {
      return string((String) value);
    }
    if (depth > DEEPEST) { // Arguments are a list themselves.
      throw new IllegalArgumentException("values nest at most 32 deep");
    }
    if (value instanceof List || value instanceof Set) {
      StringJoiner items = new StringJoiner(", ", "[", "]");
      ((Iterable<?>) value).forEach(item -> items.add(json(item, depth + 1)));
      return value instanceof Set ? "{\"#set\": " + items + "}" : items.toString();
    }
    if (value instanceof Map) {
      Map<?, ?> map = (Map<?, ?>) value;
      boolean isRecord = map.keySet().stream().allMatch(key -> key instanceof String && !((String) key).startsWith("#"));
      StringJoiner pairs = isRecord ? new StringJoiner(", ", "{", "}") : new StringJoiner(", ", "{\"#fun\": [", "]}");
      map.forEach((key, item) -> {
        String result = json(item, depth + 1);
        pairs.add(isRecord ? string((String) key) + ": " + result : "[" + json(key, depth + 1) + ", " + result + "]");
      });
      return pairs.toString();
    }
    throw new IllegalArgumentException("a value of type `" + value.getClass().getName() + "` cannot be recorded");
  }

  static String string(String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      throw new IllegalArgumentException("a string has half of a surrogate pair");
    }
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
