import java.util.SplittableRandom;

/** A random program: an empty object, and the calls that each thread makes. */
final class Program {
    final long seed;
    final Object object;
    final Step[][] columns;

    Program(Subject subject, long seed, int threads, int operations, int keys) {
        SplittableRandom random = new SplittableRandom(seed);
        this.seed = seed;
        object = subject.create().apply(random.nextInt(2));
        int[] hashes = hashes(random, keys);
        columns = new Step[threads][operations];
        for (Step[] column : columns) {
            for (int index = 0; index < operations; index++) {
                Method<Object> method = subject.draw(random);
                Element[] args = new Element[3];
                for (int place = 0; place < method.arity(); place++) {
                    int number = random.nextInt(keys);
                    args[place] = new Element(number, hashes[number]);
                }
                column[index] = new Step(method, args);
            }
        }
    }

    /** Hash codes: distinct and increasing, distinct and decreasing, in pairs, or all the same. */
    private static int[] hashes(SplittableRandom random, int keys) {
        int kind = random.nextInt(4);
        int[] hashes = new int[keys];
        for (int key = 0; key < keys; key++) {
            hashes[key] = switch (kind) {
                case 0 -> key;
                case 1 -> keys - key;
                case 2 -> key % 2;
                default -> 7;
            };
        }
        return hashes;
    }
}
