import java.util.concurrent.atomic.AtomicInteger;

/**
 * One of the threads of a pool. It runs its column of every program; a barrier before each program starts all threads
 * together.
 */
final class Worker extends Thread {
    private final int column;
    private final int threads;
    private final Program[] programs;
    private final AtomicInteger arrivals;
    private final AtomicInteger finished;
    private long random;

    Worker(int column, int threads, Program[] programs, AtomicInteger arrivals, AtomicInteger finished) {
        this.column = column;
        this.threads = threads;
        this.programs = programs;
        this.arrivals = arrivals;
        this.finished = finished;
    }

    @Override
    public void run() {
        for (int index = 0; index < programs.length; index++) {
            Program program = programs[index];
            random = program.seed * 31 + column * 0x9E3779B97F4A7C15L | 1;
            await((index + 1) * threads);
            for (Step step : program.columns[column]) {
                if (draw(4) == 0) {
                    spin();
                }
                step.run(program.object);
                finished.incrementAndGet();
            }
        }
    }

    /** Waits until this many arrivals have happened. Yields now and then: there may be fewer cores than threads. */
    private void await(int expected) {
        arrivals.incrementAndGet();
        for (int spins = 1; arrivals.get() < expected; spins++) {
            if (spins % 64 == 0) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Delays a call in the middle of its work, if a worker makes it: sometimes by a few spins, sometimes until other
     * threads have finished a few calls. They may be blocked by a lock that this call holds, so the wait is bounded.
     */
    static void perturb() {
        if (Thread.currentThread() instanceof Worker worker) {
            int choice = worker.draw(16);
            if (choice < 4) {
                int expected = worker.finished.get() + 1 + worker.draw(3);
                for (int yields = 0; yields < 100 && worker.finished.get() < expected; yields++) {
                    Thread.yield();
                }
            } else if (choice < 7) {
                worker.spin();
            }
        }
    }

    private void spin() {
        for (int spins = draw(128); spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }

    private int draw(int bound) {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return (int) (random >>> 33) % bound;
    }
}
