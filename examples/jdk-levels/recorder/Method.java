/** A method of a class: its name, its number of arguments, and how to call it. */
record Method<C>(String name, int arity, Body<C> body) {
    /** The result of a method that returns nothing. */
    static final Object VOID = new Object();

    interface Body<C> {
        Object call(C object, Element a, Element b, Element c);
    }
}
