---- MODULE CfgOverrides ----
\* Constants by value, by definition, operators by definition, definitions by definition and by value.
EXTENDS Naturals, FiniteSets
CONSTANTS Names, Limit, Pick(_), Origin, Unusual
VARIABLE x
Start == 100
Width == 50
Succ(n) == n + 100
MCStart == 1
MCSucc(n) == n + Width
MCPick(S) == CHOOSE e \in S : \A d \in S : e >= d
MCUnusual == {<<1>>, <<2>>}
MCLimit == 3 * 4
Init == x = Start
Next == (x < Limit /\ x' = Succ(x)) \/ (x >= Limit /\ x' = Pick({0, 1, Origin}))
Ok == x < Limit + Width /\ Cardinality(Names) = 3 /\ Unusual = {<<1>>, <<2>>} /\ Width = 2
====
