import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import omnilink.Recorder;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Clients of ZooKeeper that read and write two nodes, and record it: {@code Clients NAME plain|sync SERVER...}.
 *
 * <p>The trace is NAME.jsonl. Each client has a session with one of the servers. With {@code sync}, it asks its server to catch
 * up with the leader before each read. Values are distinct, so each identifies its write.
 */
final class Clients {
  private static final int CLIENTS = 4;
  private static final int OPERATIONS = 500;

  public static void main(String[] arguments) throws Exception {
    String name = arguments[0];
    boolean hasSync = arguments[1].equals("sync");
    List<ZooKeeper> sessions = new ArrayList<>();
    for (int number = 0; number < CLIENTS; number++) {
      String server = arguments[2 + number % (arguments.length - 2)];
      sessions.add(new ZooKeeper(server, 30_000, event -> {}));
    }
    for (int node = 0; node < 2; node++) {
      sessions.get(0).create(path(name, node), new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try (Recorder recorder = new Recorder(Path.of(name + ".jsonl"))) {
      List<Callable<Void>> clients = new ArrayList<>();
      for (int number = 0; number < CLIENTS; number++) {
        sync(sessions.get(number), path(name, 1));
        Recorder.Client client = recorder.client("c" + (number + 1));
        ZooKeeper session = sessions.get(number);
        int first = (number + 1) * OPERATIONS;
        clients.add(() -> run(client, session, name, hasSync, first));
      }
      for (Future<Void> client : threads.invokeAll(clients)) {
        client.get();
      }
    } finally {
      threads.shutdown();
      for (ZooKeeper session : sessions) {
        session.close();
      }
    }
  }

  /** Runs the operations of a client. An exception leaves the outcome of the operation unknown, and ends the program. */
  private static Void run(Recorder.Client client, ZooKeeper session, String name, boolean hasSync, int first)
      throws Exception {
    Random random = new Random(first);
    for (int value = first; value < first + OPERATIONS; value++) {
      String path = path(name, random.nextInt(2));
      if (random.nextInt(4) == 0) {
        try (Recorder.Operation op = client.begin("write", Recorder.named("key", path, "value", value))) {
          session.setData(path, Integer.toString(value).getBytes(StandardCharsets.UTF_8), -1);
          op.returns();
        }
      } else {
        try (Recorder.Operation op = client.begin("read", Recorder.named("key", path))) {
          if (hasSync) {
            sync(session, path);
          }
          String text = new String(session.getData(path, false, null), StandardCharsets.UTF_8);
          op.returns(Recorder.named("value", text.isEmpty() ? null : Integer.valueOf(text)));
        }
      }
    }
    return null;
  }

  private static String path(String name, int node) {
    return "/" + name + "-" + node;
  }

  /** Waits until the server of the session has caught up with the leader. */
  private static void sync(ZooKeeper session, String path) throws Exception {
    CompletableFuture<Integer> done = new CompletableFuture<>();
    session.sync(path, (code, ignoredPath, ignoredContext) -> done.complete(code), null);
    KeeperException.Code code = KeeperException.Code.get(done.get(10, TimeUnit.SECONDS));
    if (code != KeeperException.Code.OK) {
      throw KeeperException.create(code, path);
    }
  }
}
