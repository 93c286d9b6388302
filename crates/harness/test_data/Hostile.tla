------------------------------ MODULE Hostile ------------------------------
(***************************************************************************)
(* Names that mean something in Rust or C++, or in a generated file.       *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS Nil, Words

VARIABLE x

Init == x = 0

Move(self, type, call) == x' = type + call
MoveFailed(self, type) == type < x /\ UNCHANGED x
move(client, session) == x' = client + session
Self(system) == system = x /\ UNCHANGED x
Option(int) == int = x /\ UNCHANGED x
OptionNone == x < 0 /\ UNCHANGED x
Session(class, weights) == class = x /\ weights = x + 1 /\ UNCHANGED x
1st(plan, word) == word # "" /\ x' = plan
Assert(some) == x' = Len(some)
Todo(nothing) == nothing = (IF x = 0 THEN Nil ELSE x) /\ UNCHANGED x
ManyArgumentsInOneCallAndLongNamesToo(firstLongArgument, secondLongArgument, thirdLongArgument, fourthLongArgument,
                                      fifth, sixth, seventh) ==
    /\ seventh = x
    /\ x' = firstLongArgument + secondLongArgument + thirdLongArgument + fourthLongArgument + fifth + sixth

Next ==
    \E n \in Int, m \in Int :
        \/ Move(0, n, m)
        \/ MoveFailed(0, n)
        \/ move(n, m)
        \/ Self(n)
        \/ Option(n)
        \/ OptionNone
        \/ Session(n, m)
        \/ \E word \in Words : 1st(n, word)
        \/ \E some \in {<<>>, <<1, 2>>} : Assert(some)
        \/ \E nothing \in {Nil, 1, 2} : Todo(nothing)
        \/ \E a, b, c, d, e, f \in 0 .. 20 : ManyArgumentsInOneCallAndLongNamesToo(a, b, c, d, e, f, n)

Spec == Init /\ [][Next]_x

=============================================================================
