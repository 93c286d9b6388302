/**
 * A key or value: a small number. Its methods sometimes spin or yield, so that calls of unmodified classes overlap:
 * the classes call these methods in the middle of their own work.
 */
final class Element implements Comparable<Element> {
    final int number;
    private final int hash;

    Element(int number, int hash) {
        this.number = number;
        this.hash = hash;
    }

    @Override
    public int hashCode() {
        Worker.perturb();
        return hash;
    }

    @Override
    public boolean equals(Object other) {
        Worker.perturb();
        return other instanceof Element element && element.number == number;
    }

    @Override
    public int compareTo(Element other) {
        Worker.perturb();
        return Integer.compare(number, other.number);
    }

    @Override
    public String toString() {
        Worker.perturb();
        return Integer.toString(number);
    }
}
