import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * A class under study: how to create an object, and its methods. Half of the calls of a program are drawn from the
 * common methods, which insert and remove single elements; the other half from all methods.
 */
final class Subject {
    private final String name;
    private final IntFunction<Object> create;
    private final List<Method<Object>> common = new ArrayList<>();
    private final List<Method<Object>> all = new ArrayList<>();

    /** {@code create} receives 0 or 1, for classes that can be created in two ways. */
    Subject(String name, IntFunction<Object> create) {
        this.name = name;
        this.create = create;
    }

    String name() {
        return name;
    }

    IntFunction<Object> create() {
        return create;
    }

    List<Method<Object>> methods() {
        return all;
    }

    @SuppressWarnings("unchecked")
    <C> void common(String name, int arity, Method.Body<C> body) {
        add(name, arity, body);
        common.add(all.get(all.size() - 1));
    }

    @SuppressWarnings("unchecked")
    <C> void add(String name, int arity, Method.Body<C> body) {
        all.add(new Method<>(name, arity, (Method.Body<Object>) body));
    }

    Method<Object> draw(SplittableRandom random) {
        List<Method<Object>> from = random.nextBoolean() ? common : all;
        return from.get(random.nextInt(from.size()));
    }
}
