import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Records random programs that threads run on objects of java.util.concurrent, one file of JSON Lines per history:
 * DIR/CLASS/000001.jsonl. The seed decides the programs; threads run freely, so the results differ between recordings.
 */
public final class Recorder {
    private static final int BATCH = 500;

    private Path directory;
    private String only;
    private long seed = 1;
    private int histories = 2000;
    private int threads = 3;
    private int operations = 5;
    private int keys = 4;

    public static void main(String[] args) throws IOException, InterruptedException {
        Recorder recorder = new Recorder();
        try {
            recorder.read(args);
        } catch (IllegalArgumentException problem) {
            System.err.println("error: " + problem.getMessage());
            System.err.println("usage: Recorder DIR [--class NAME] [--histories 2000] [--threads 3] [--operations 5] [--keys 4] [--seed 1]");
            System.exit(2);
        }
        recorder.record();
    }

    private void read(String[] args) {
        for (int index = 0; index < args.length; index++) {
            String arg = args[index];
            if (!arg.startsWith("--")) {
                directory = Path.of(arg);
                continue;
            }
            if (++index == args.length) {
                throw new IllegalArgumentException("`" + arg + "` needs a value");
            }
            switch (arg) {
                case "--class" -> only = args[index];
                case "--seed" -> seed = Long.parseLong(args[index]);
                case "--histories" -> histories = count(args[index], 999_999);
                case "--threads" -> threads = count(args[index], 64);
                case "--operations" -> operations = count(args[index], 1000);
                case "--keys" -> keys = count(args[index], 10);
                default -> throw new IllegalArgumentException("unrecognized option `" + arg + "`");
            }
        }
        if (directory == null) {
            throw new IllegalArgumentException("no directory given");
        }
    }

    private static int count(String text, int most) {
        int count = Integer.parseInt(text);
        if (count < 1 || count > most) {
            throw new IllegalArgumentException("expected a number from 1 to " + most + ", found `" + text + "`");
        }
        return count;
    }

    private void record() throws IOException, InterruptedException {
        int pairs = 0;
        for (Subject subject : Subjects.all()) {
            if (only != null && !only.equals(subject.name())) {
                continue;
            }
            Path folder = Files.createDirectories(directory.resolve(subject.name()));
            long[] overlaps = new long[2];
            for (int first = 1; first <= histories; first += BATCH) {
                Program[] programs = new Program[Math.min(BATCH, histories - first + 1)];
                for (int index = 0; index < programs.length; index++) {
                    long own = seed * 0x9E3779B97F4A7C15L + subject.name().hashCode() * 1_000_003L + first + index;
                    programs[index] = new Program(subject, own, threads, operations, keys);
                }
                run(programs);
                for (int index = 0; index < programs.length; index++) {
                    Files.writeString(folder.resolve("%06d.jsonl".formatted(first + index)), text(programs[index]));
                    countOverlaps(programs[index], overlaps);
                }
            }
            pairs += subject.methods().size();
            long share = overlaps[1] == 0 ? 0 : 100 * overlaps[0] / overlaps[1];
            System.out.printf("%s: %d histories, %d methods, %d%% of operations overlap another%n",
                    subject.name(), histories, subject.methods().size(), share);
        }
        System.out.printf("%d pairs of class and method%n", pairs);
    }

    private void run(Program[] programs) throws InterruptedException {
        AtomicInteger arrivals = new AtomicInteger();
        AtomicInteger finished = new AtomicInteger();
        List<Worker> workers = new ArrayList<>();
        for (int column = 0; column < threads; column++) {
            workers.add(new Worker(column, threads, programs, arrivals, finished));
        }
        workers.forEach(Worker::start);
        for (Worker worker : workers) {
            worker.join();
        }
    }

    private static void countOverlaps(Program program, long[] overlaps) {
        for (Step[] column : program.columns) {
            for (Step step : column) {
                boolean overlapping = Stream.of(program.columns).filter(other -> other != column).flatMap(Stream::of)
                        .anyMatch(other -> other.start <= step.end && step.start <= other.end);
                overlaps[0] += overlapping ? 1 : 0;
                overlaps[1]++;
            }
        }
    }

    /** The history, with times relative to its first one. */
    private static String text(Program program) {
        long origin = Stream.of(program.columns).mapToLong(column -> column[0].start).min().orElse(0);
        StringBuilder text = new StringBuilder();
        for (int column = 0; column < program.columns.length; column++) {
            for (Step step : program.columns[column]) {
                text.append("{\"process\": ").append(column);
                text.append(", \"action\": \"").append(step.method.name()).append('"');
                if (step.method.arity() > 0) {
                    text.append(", \"args\": ").append(json(Arrays.asList(step.args).subList(0, step.method.arity())));
                }
                if (step.result != Method.VOID) {
                    text.append(", \"results\": [").append(json(step.result)).append(']');
                }
                text.append(", \"start\": ").append(step.start - origin);
                text.append(", \"end\": ").append(step.end - origin).append("}\n");
            }
        }
        return text.toString();
    }

    private static String json(Object value) {
        if (value == null || value instanceof Boolean || value instanceof Number) {
            return String.valueOf(value);
        } else if (value instanceof Element element) {
            return Integer.toString(element.number);
        } else if (value instanceof Map.Entry<?, ?> entry) {
            return "[" + json(entry.getKey()) + ", " + json(entry.getValue()) + "]";
        } else if (value instanceof List<?> list) {
            return "[" + String.join(", ", list.stream().map(Recorder::json).toList()) + "]";
        } else if (value instanceof Subjects.Unordered unordered) {
            // Numbers have one digit, so the order of texts is the order of values.
            return "[" + String.join(", ", unordered.elements().stream().map(Recorder::json).sorted().toList()) + "]";
        }
        return "\"" + value + "\"";
    }
}
