import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.PriorityBlockingQueue;

/**
 * The classes under study and their methods, unmodified. A view such as {@code keySet} or {@code headMap} is recorded
 * as its elements, in the order in which its iterator returns them; where the class promises no order (hash maps, the
 * iterators of priority queues), as a sorted array.
 */
final class Subjects {
    /** The capacity of bounded queues. */
    static final int CAPACITY = 3;

    /** The elements of a result that has no order. */
    record Unordered(List<?> elements) {}

    private Subjects() {}

    static List<Subject> all() {
        return List.of(
                hashMap(),
                skipListMap(),
                skipListSet(),
                queue("ConcurrentLinkedQueue", new Subject("ConcurrentLinkedQueue", way -> new ConcurrentLinkedQueue<Element>())),
                deque(new Subject("ConcurrentLinkedDeque", way -> new ConcurrentLinkedDeque<Element>())),
                queue("LinkedBlockingQueue", new Subject("LinkedBlockingQueue", way -> new LinkedBlockingQueue<Element>())),
                deque(new Subject("LinkedBlockingDeque", way -> new LinkedBlockingDeque<Element>())),
                queue("LinkedTransferQueue", new Subject("LinkedTransferQueue", way -> new LinkedTransferQueue<Element>())),
                queue("ArrayBlockingQueue", new Subject("ArrayBlockingQueue", way -> new ArrayBlockingQueue<Element>(CAPACITY, way == 1))),
                priorityQueue(),
                copyOnWriteSet());
    }

    private static Subject hashMap() {
        // A table of 2 bins is resized during the program, one of 16 is not.
        Subject subject = new Subject("ConcurrentHashMap", way -> new ConcurrentHashMap<Element, Element>(way == 0 ? 16 : 1));
        map(subject);
        subject.<ConcurrentHashMap<Element, Element>>add("contains", 1, (map, a, b, c) -> map.contains(a));
        subject.<ConcurrentHashMap<Element, Element>>add("mappingCount", 0, (map, a, b, c) -> map.mappingCount());
        subject.<ConcurrentHashMap<Element, Element>>add("keySet", 0, (map, a, b, c) -> new Unordered(iterate(map.keySet())));
        subject.<ConcurrentHashMap<Element, Element>>add("values", 0, (map, a, b, c) -> new Unordered(iterate(map.values())));
        subject.<ConcurrentHashMap<Element, Element>>add("entrySet", 0, (map, a, b, c) -> new Unordered(iterate(map.entrySet())));
        subject.<ConcurrentHashMap<Element, Element>>add("keys", 0, (map, a, b, c) -> new Unordered(enumerate(map.keys())));
        subject.<ConcurrentHashMap<Element, Element>>add("elements", 0, (map, a, b, c) -> new Unordered(enumerate(map.elements())));
        subject.<ConcurrentHashMap<Element, Element>>add("forEach", 0, (map, a, b, c) -> new Unordered(forEach(map)));
        subject.<ConcurrentHashMap<Element, Element>>add("toString", 0, (map, a, b, c) -> {
            String text = map.toString();
            String inner = text.substring(1, text.length() - 1);
            return new Unordered(inner.isEmpty() ? List.of() : Arrays.asList(inner.split(", ")));
        });
        return subject;
    }

    private static Subject skipListMap() {
        Subject subject = new Subject("ConcurrentSkipListMap", way -> new ConcurrentSkipListMap<Element, Element>());
        map(subject);
        subject.<ConcurrentSkipListMap<Element, Element>>add("pollFirstEntry", 0, (map, a, b, c) -> map.pollFirstEntry());
        subject.<ConcurrentSkipListMap<Element, Element>>add("pollLastEntry", 0, (map, a, b, c) -> map.pollLastEntry());
        subject.<ConcurrentSkipListMap<Element, Element>>add("firstEntry", 0, (map, a, b, c) -> map.firstEntry());
        subject.<ConcurrentSkipListMap<Element, Element>>add("lastEntry", 0, (map, a, b, c) -> map.lastEntry());
        subject.<ConcurrentSkipListMap<Element, Element>>add("firstKey", 0, (map, a, b, c) -> map.firstKey());
        subject.<ConcurrentSkipListMap<Element, Element>>add("lastKey", 0, (map, a, b, c) -> map.lastKey());
        subject.<ConcurrentSkipListMap<Element, Element>>add("ceilingKey", 1, (map, a, b, c) -> map.ceilingKey(a));
        subject.<ConcurrentSkipListMap<Element, Element>>add("floorKey", 1, (map, a, b, c) -> map.floorKey(a));
        subject.<ConcurrentSkipListMap<Element, Element>>add("higherKey", 1, (map, a, b, c) -> map.higherKey(a));
        subject.<ConcurrentSkipListMap<Element, Element>>add("lowerKey", 1, (map, a, b, c) -> map.lowerKey(a));
        subject.<ConcurrentSkipListMap<Element, Element>>add("keySet", 0, (map, a, b, c) -> iterate(map.keySet()));
        subject.<ConcurrentSkipListMap<Element, Element>>add("descendingKeySet", 0, (map, a, b, c) -> iterate(map.descendingKeySet()));
        subject.<ConcurrentSkipListMap<Element, Element>>add("values", 0, (map, a, b, c) -> iterate(map.values()));
        subject.<ConcurrentSkipListMap<Element, Element>>add("entrySet", 0, (map, a, b, c) -> iterate(map.entrySet()));
        subject.<ConcurrentSkipListMap<Element, Element>>add("headMap", 1, (map, a, b, c) -> iterate(map.headMap(a).entrySet()));
        subject.<ConcurrentSkipListMap<Element, Element>>add("tailMap", 1, (map, a, b, c) -> iterate(map.tailMap(a).entrySet()));
        subject.<ConcurrentSkipListMap<Element, Element>>add("forEach", 0, (map, a, b, c) -> forEach(map));
        subject.<ConcurrentSkipListMap<Element, Element>>add("toString", 0, (map, a, b, c) -> map.toString());
        return subject;
    }

    /** The methods of every map. The functions of the last three read their arguments only. */
    private static void map(Subject subject) {
        subject.<ConcurrentMap<Element, Element>>common("put", 2, (map, a, b, c) -> map.put(a, b));
        subject.<ConcurrentMap<Element, Element>>common("putIfAbsent", 2, (map, a, b, c) -> map.putIfAbsent(a, b));
        subject.<ConcurrentMap<Element, Element>>common("remove", 1, (map, a, b, c) -> map.remove(a));
        subject.<ConcurrentMap<Element, Element>>add("remove", 2, (map, a, b, c) -> map.remove(a, b));
        subject.<ConcurrentMap<Element, Element>>add("replace", 2, (map, a, b, c) -> map.replace(a, b));
        subject.<ConcurrentMap<Element, Element>>add("replace", 3, (map, a, b, c) -> map.replace(a, b, c));
        subject.<ConcurrentMap<Element, Element>>add("clear", 0, (map, a, b, c) -> {
            map.clear();
            return Method.VOID;
        });
        subject.<ConcurrentMap<Element, Element>>add("get", 1, (map, a, b, c) -> map.get(a));
        subject.<ConcurrentMap<Element, Element>>add("getOrDefault", 2, (map, a, b, c) -> map.getOrDefault(a, b));
        subject.<ConcurrentMap<Element, Element>>add("containsKey", 1, (map, a, b, c) -> map.containsKey(a));
        subject.<ConcurrentMap<Element, Element>>add("containsValue", 1, (map, a, b, c) -> map.containsValue(a));
        subject.<ConcurrentMap<Element, Element>>add("size", 0, (map, a, b, c) -> map.size());
        subject.<ConcurrentMap<Element, Element>>add("isEmpty", 0, (map, a, b, c) -> map.isEmpty());
        subject.<ConcurrentMap<Element, Element>>add("computeIfAbsent", 2, (map, a, b, c) -> map.computeIfAbsent(a, key -> {
            Worker.perturb();
            return b;
        }));
        // Removes the key if the value stays the same.
        subject.<ConcurrentMap<Element, Element>>add("computeIfPresent", 2, (map, a, b, c) -> map.computeIfPresent(a, (key, old) -> {
            Worker.perturb();
            return old.number == b.number ? null : b;
        }));
        // Keeps the larger value, and removes the key if they are the same.
        subject.<ConcurrentMap<Element, Element>>add("merge", 2, (map, a, b, c) -> map.merge(a, b, (old, value) -> {
            Worker.perturb();
            return old.number == value.number ? null : old.number > value.number ? old : value;
        }));
    }

    private static Subject skipListSet() {
        Subject subject = new Subject("ConcurrentSkipListSet", way -> new ConcurrentSkipListSet<Element>());
        subject.<ConcurrentSkipListSet<Element>>common("add", 1, (set, a, b, c) -> set.add(a));
        subject.<ConcurrentSkipListSet<Element>>common("remove", 1, (set, a, b, c) -> set.remove(a));
        subject.<ConcurrentSkipListSet<Element>>add("pollFirst", 0, (set, a, b, c) -> set.pollFirst());
        subject.<ConcurrentSkipListSet<Element>>add("pollLast", 0, (set, a, b, c) -> set.pollLast());
        subject.<ConcurrentSkipListSet<Element>>add("first", 0, (set, a, b, c) -> set.first());
        subject.<ConcurrentSkipListSet<Element>>add("last", 0, (set, a, b, c) -> set.last());
        subject.<ConcurrentSkipListSet<Element>>add("ceiling", 1, (set, a, b, c) -> set.ceiling(a));
        subject.<ConcurrentSkipListSet<Element>>add("floor", 1, (set, a, b, c) -> set.floor(a));
        subject.<ConcurrentSkipListSet<Element>>add("higher", 1, (set, a, b, c) -> set.higher(a));
        subject.<ConcurrentSkipListSet<Element>>add("lower", 1, (set, a, b, c) -> set.lower(a));
        subject.<ConcurrentSkipListSet<Element>>add("headSet", 1, (set, a, b, c) -> iterate(set.headSet(a)));
        subject.<ConcurrentSkipListSet<Element>>add("tailSet", 1, (set, a, b, c) -> iterate(set.tailSet(a)));
        subject.<ConcurrentSkipListSet<Element>>add("subSet", 2, (set, a, b, c) -> iterate(set.subSet(a, b)));
        subject.<ConcurrentSkipListSet<Element>>add("descendingIterator", 0, (set, a, b, c) -> drain(set.descendingIterator()));
        collection(subject);
        return subject;
    }

    private static Subject queue(String name, Subject subject) {
        subject.<Queue<Element>>common("offer", 1, (queue, a, b, c) -> queue.offer(a));
        subject.<Queue<Element>>common("poll", 0, (queue, a, b, c) -> queue.poll());
        subject.<Queue<Element>>add("peek", 0, (queue, a, b, c) -> queue.peek());
        subject.<Queue<Element>>add("element", 0, (queue, a, b, c) -> queue.element());
        subject.<Queue<Element>>add("remove", 0, (queue, a, b, c) -> queue.remove());
        subject.<Queue<Element>>add("remove", 1, (queue, a, b, c) -> queue.remove(a));
        collection(subject);
        if (name.equals("ArrayBlockingQueue")) {
            subject.<ArrayBlockingQueue<Element>>add("remainingCapacity", 0, (queue, a, b, c) -> queue.remainingCapacity());
        }
        return subject;
    }

    private static Subject deque(Subject subject) {
        subject.<Deque<Element>>common("offerFirst", 1, (deque, a, b, c) -> deque.offerFirst(a));
        subject.<Deque<Element>>common("offerLast", 1, (deque, a, b, c) -> deque.offerLast(a));
        subject.<Deque<Element>>common("pollFirst", 0, (deque, a, b, c) -> deque.pollFirst());
        subject.<Deque<Element>>common("pollLast", 0, (deque, a, b, c) -> deque.pollLast());
        subject.<Deque<Element>>add("addFirst", 1, (deque, a, b, c) -> {
            deque.addFirst(a);
            return Method.VOID;
        });
        subject.<Deque<Element>>add("addLast", 1, (deque, a, b, c) -> {
            deque.addLast(a);
            return Method.VOID;
        });
        subject.<Deque<Element>>add("removeFirst", 0, (deque, a, b, c) -> deque.removeFirst());
        subject.<Deque<Element>>add("removeLast", 0, (deque, a, b, c) -> deque.removeLast());
        subject.<Deque<Element>>add("peekFirst", 0, (deque, a, b, c) -> deque.peekFirst());
        subject.<Deque<Element>>add("peekLast", 0, (deque, a, b, c) -> deque.peekLast());
        subject.<Deque<Element>>add("getFirst", 0, (deque, a, b, c) -> deque.getFirst());
        subject.<Deque<Element>>add("getLast", 0, (deque, a, b, c) -> deque.getLast());
        subject.<Deque<Element>>add("removeFirstOccurrence", 1, (deque, a, b, c) -> deque.removeFirstOccurrence(a));
        subject.<Deque<Element>>add("removeLastOccurrence", 1, (deque, a, b, c) -> deque.removeLastOccurrence(a));
        subject.<Deque<Element>>add("descendingIterator", 0, (deque, a, b, c) -> drain(deque.descendingIterator()));
        subject.<Queue<Element>>add("offer", 1, (queue, a, b, c) -> queue.offer(a));
        subject.<Queue<Element>>add("poll", 0, (queue, a, b, c) -> queue.poll());
        subject.<Queue<Element>>add("peek", 0, (queue, a, b, c) -> queue.peek());
        subject.<Queue<Element>>add("remove", 1, (queue, a, b, c) -> queue.remove(a));
        collection(subject);
        return subject;
    }

    private static Subject priorityQueue() {
        Subject subject = new Subject("PriorityBlockingQueue", way -> new PriorityBlockingQueue<Element>());
        subject.<Queue<Element>>common("offer", 1, (queue, a, b, c) -> queue.offer(a));
        subject.<Queue<Element>>common("poll", 0, (queue, a, b, c) -> queue.poll());
        subject.<Queue<Element>>add("peek", 0, (queue, a, b, c) -> queue.peek());
        subject.<Queue<Element>>add("remove", 1, (queue, a, b, c) -> queue.remove(a));
        access(subject);
        subject.<Queue<Element>>add("toArray", 0, (queue, a, b, c) -> new Unordered(Arrays.asList(queue.toArray())));
        subject.<Queue<Element>>add("iterator", 0, (queue, a, b, c) -> new Unordered(iterate(queue)));
        subject.<Queue<Element>>add("forEach", 0, (queue, a, b, c) -> new Unordered(forEach(queue)));
        return subject;
    }

    private static Subject copyOnWriteSet() {
        Subject subject = new Subject("CopyOnWriteArraySet", way -> new CopyOnWriteArraySet<Element>());
        subject.<CopyOnWriteArraySet<Element>>common("add", 1, (set, a, b, c) -> set.add(a));
        subject.<CopyOnWriteArraySet<Element>>common("remove", 1, (set, a, b, c) -> set.remove(a));
        collection(subject);
        return subject;
    }

    /** The methods of every collection with an order. */
    private static void collection(Subject subject) {
        access(subject);
        subject.<Collection<Element>>add("toArray", 0, (collection, a, b, c) -> Arrays.asList(collection.toArray()));
        subject.<Collection<Element>>add("toString", 0, (collection, a, b, c) -> collection.toString());
        subject.<Collection<Element>>add("iterator", 0, (collection, a, b, c) -> iterate(collection));
        subject.<Collection<Element>>add("forEach", 0, (collection, a, b, c) -> forEach(collection));
    }

    private static void access(Subject subject) {
        subject.<Collection<Element>>add("contains", 1, (collection, a, b, c) -> collection.contains(a));
        subject.<Collection<Element>>add("size", 0, (collection, a, b, c) -> collection.size());
        subject.<Collection<Element>>add("isEmpty", 0, (collection, a, b, c) -> collection.isEmpty());
        subject.<Collection<Element>>add("clear", 0, (collection, a, b, c) -> {
            collection.clear();
            return Method.VOID;
        });
    }

    private static <E> List<E> iterate(Collection<E> collection) {
        return drain(collection.iterator());
    }

    private static <E> List<E> drain(Iterator<E> iterator) {
        List<E> elements = new ArrayList<>();
        while (iterator.hasNext()) {
            Worker.perturb();
            elements.add(iterator.next());
        }
        return elements;
    }

    private static <E> List<E> enumerate(Enumeration<E> enumeration) {
        return drain(enumeration.asIterator());
    }

    private static List<Element> forEach(Collection<Element> collection) {
        List<Element> elements = new ArrayList<>();
        collection.forEach(element -> {
            Worker.perturb();
            elements.add(element);
        });
        return elements;
    }

    private static List<Map.Entry<Element, Element>> forEach(ConcurrentMap<Element, Element> map) {
        List<Map.Entry<Element, Element>> entries = new ArrayList<>();
        map.forEach((key, value) -> {
            Worker.perturb();
            entries.add(Map.entry(key, value));
        });
        return entries;
    }
}
