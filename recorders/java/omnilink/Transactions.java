package omnilink;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.LongSupplier;

/**
 * Records transactions of a store, for {@code omnilink check --isolation}: a file of JSON Lines.
 *
 * <pre>{@code
 * try (Transactions recorder = new Transactions(Path.of("txns.jsonl"))) {
 *   Transactions.Session session = recorder.session("c1"); // one for each thread or connection
 *   try (Transactions.Transaction txn = session.begin()) { // before the store begins
 *     txn.read("x", value);
 *     txn.write("x", 2);
 *     txn.committing(); // before COMMIT is sent
 *     connection.commit();
 *     txn.committed();
 *   }
 * }
 * }</pre>
 *
 * <p>An exception before {@code committing} means that the transaction aborted, and one after it that its outcome is unknown.
 * {@code committing} writes the line, so a program that is killed then loses no transaction.
 *
 * <p>Keys and values are null, truth values, numbers and strings; a list that was read is a {@link List}.
 */
public final class Transactions implements AutoCloseable {
  private static final int ROOM = 160; // Spaces behind a line without an outcome, for its end and its stamps.

  private final Recorder recorder;
  private final LongSupplier clock;

  /** Creates the file, which must not exist. Times are nanoseconds since then. */
  public Transactions(Path path) throws IOException {
    this(path, Recorder.sinceNow());
  }

  Transactions(Path path, LongSupplier clock) throws IOException {
    this.recorder = new Recorder(path, clock);
    this.clock = clock;
  }

  /** Begins a session. No two sessions of a file have the same name. */
  public Session session(String name) {
    if (!recorder.take(name)) {
      throw new IllegalArgumentException("session `" + name + "` already exists");
    }
    return new Session(name);
  }

  @Override
  public void close() throws IOException {
    recorder.close();
  }

  /** A thread or a connection: it performs one transaction after another. */
  public final class Session {
    private final String name;
    private long latest;

    private Session(String name) {
      this.name = Recorder.string(name);
    }

    /** Begins a transaction. Call it before the store begins one. */
    public Transaction begin() {
      latest = Math.max(clock.getAsLong(), latest);
      return new Transaction(this);
    }
  }

  /** A transaction that is being recorded. */
  public final class Transaction implements AutoCloseable {
    private final Session session;
    private final long start;
    private final StringJoiner accesses = new StringJoiner(", ", "[", "]");
    private String stamps = "";
    private String status;
    private boolean isCommitting;
    private long offset;
    private int room; // Of its line; 0 if there is none.

    private Transaction(Session session) {
      this.session = session;
      this.start = session.latest;
    }

    /** The store returned this value, or this list of all elements. Returns it. */
    public <T> T read(Object key, T value) {
      if (value instanceof List) {
        ((List<?>) value).forEach(Transactions::scalar);
        access("r", key, Recorder.json(value, 0));
      } else {
        access("r", key, scalar(value));
      }
      return value;
    }

    /** A register was written. */
    public void write(Object key, Object value) {
      access("w", key, scalar(value));
    }

    /** An element was appended to a list. */
    public void append(Object key, Object element) {
      access("append", key, scalar(element));
    }

    private void access(String kind, Object key, String value) {
      if (isCommitting || status != null) {
        throw new IllegalStateException("the transaction is committing, or has an outcome");
      }
      accesses.add("[\"" + kind + "\", " + scalar(key) + ", " + value + "]");
    }

    /**
     * A time that the database gave the transaction: {@code snapshot_ts} and {@code commit_ts}, which are numbers, or PostgreSQL's
     * {@code snapshot} and {@code xid}. Call it before the outcome.
     */
    public void stamp(String field, Object stamp) {
      expectNone();
      stamps += ", " + Recorder.string(field) + ": " + scalar(stamp);
    }

    /** The commit is about to be sent: until its outcome is known, the transaction may have taken effect. */
    public void committing() {
      expectNone();
      isCommitting = true;
      put(", \"status\": \"unknown\"");
    }

    /** It took effect. */
    public void committed() {
      end("committed");
    }

    /** It had no effect. */
    public void aborted() {
      end("aborted");
    }

    /** It may or may not have taken effect. */
    public void unknown() {
      expectNone();
      status = "unknown";
      put(", \"status\": \"unknown\"");
    }

    /** Ends a transaction without an outcome: it aborted before {@code committing}, and its outcome is unknown after it. */
    @Override
    public void close() {
      if (status == null && isCommitting) {
        unknown();
      } else if (status == null) {
        aborted();
      }
    }

    private void end(String outcome) {
      expectNone();
      status = outcome;
      session.latest = Math.max(clock.getAsLong(), start);
      put(", \"end\": " + session.latest + ", \"status\": \"" + outcome + "\"");
    }

    private void expectNone() {
      if (status != null) {
        throw new IllegalStateException("the transaction is already " + status);
      }
    }

    /** Writes the line, in place of the one that is there. */
    private void put(String outcome) {
      String text = "{\"process\": " + session.name + ", \"txn\": " + accesses + ", \"start\": " + start + outcome + stamps + "}";
      byte[] line = text.getBytes(StandardCharsets.UTF_8);
      try {
        if (line.length < room) {
          recorder.replace(offset, Recorder.padded(line, room));
          return;
        }
        long old = room > 0 ? offset : -1;
        room = line.length + 1 + (status == null ? ROOM : 0);
        offset = recorder.append(line, room);
        if (old >= 0) {
          recorder.replace(old, new byte[] {'#'}); // A comment now.
        }
      } catch (IOException problem) {
        throw new UncheckedIOException("cannot record", problem);
      }
    }
  }

  private static String scalar(Object value) {
    if (value instanceof Collection || value instanceof Map) {
      throw new IllegalArgumentException("a key, a value or an element is null, a truth value, a number or a string");
    }
    return Recorder.json(value, 0);
  }
}
