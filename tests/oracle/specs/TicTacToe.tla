---- MODULE TicTacToe ----
\* All games; the invariant says that the second player never wins, which is wrong.
EXTENDS Naturals, FiniteSets
VARIABLES board, turn
Cells == 1..9
Lines == {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 4, 7}, {2, 5, 8}, {3, 6, 9}, {1, 5, 9}, {3, 5, 7}}
Won(p) == \E l \in Lines : \A c \in l : board[c] = p
Over == Won("X") \/ Won("O")
Init == board = [c \in Cells |-> "_"] /\ turn = "X"
Move(c) == /\ ~Over /\ board[c] = "_" /\ board' = [board EXCEPT ![c] = turn]
           /\ turn' = IF turn = "X" THEN "O" ELSE "X"
Next == \E c \in Cells : Move(c)
NotBoth == ~(Won("X") /\ Won("O"))
FirstWins == ~Won("O")
====
