---- MODULE PrimedExpressions ----
\* A prime on a whole expression reads the next values of what it mentions.
EXTENDS Naturals, Sequences
VARIABLES q, n
Size == Len(q)
Init == q = <<>> /\ n = 0
Push == Size < 3 /\ q' = Append(q, n) /\ n' = Size' % 2 /\ (Size + n)' > 0
Pop == q # <<>> /\ q' = Tail(q) /\ n' = (IF q = <<>> THEN 5 ELSE Head(q))'
Next == Push \/ Pop
====
