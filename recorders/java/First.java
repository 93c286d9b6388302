// A store whose reader keeps what it has read in a cache.
import java.nio.file.Path;
import java.util.HashMap;
import omnilink.Recorder;

final class First {
  public static void main(String[] arguments) throws Exception {
    var store = new HashMap<String, Integer>();
    var cache = new HashMap<String, Integer>();
    try (Recorder recorder = new Recorder(Path.of("trace.jsonl"))) {
      Recorder.Client writer = recorder.client("writer");
      Recorder.Client reader = recorder.client("reader");
      for (int value = 1; value <= 2; value++) {
        try (Recorder.Operation op = writer.begin("write", Recorder.named("key", "x", "value", value))) {
          store.put("x", value);
          op.returns();
        }
        try (Recorder.Operation op = reader.begin("read", Recorder.named("key", "x"))) {
          op.returns(Recorder.named("value", cache.computeIfAbsent("x", store::get)));
        }
      }
    }
  }
}
