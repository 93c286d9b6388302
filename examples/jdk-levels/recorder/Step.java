import java.lang.invoke.VarHandle;

/** One call of a program, and, once it has run, its times and result. */
final class Step {
    final Method<Object> method;
    final Element[] args;
    long start;
    long end;
    Object result;

    Step(Method<Object> method, Element[] args) {
        this.method = method;
        this.args = args;
    }

    /**
     * Runs the call between two readings of the clock. The fences keep the compiler and the store buffer from moving
     * an effect of the call out of its interval.
     */
    void run(Object object) {
        long before = System.nanoTime();
        VarHandle.fullFence();
        Object returned;
        try {
            returned = method.body().call(object, args[0], args[1], args[2]);
        } catch (RuntimeException exception) {
            returned = exception.getClass().getSimpleName();
        }
        VarHandle.fullFence();
        end = System.nanoTime();
        start = before;
        result = returned;
    }
}
