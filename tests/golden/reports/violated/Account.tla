------------------------------ MODULE Account -------------------------------
(***************************************************************************)
(* Two accounts that belong together: one may be overdrawn as long as the  *)
(* other makes up for it.  Nothing in `Withdraw` sees to that.             *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS Accounts, Amounts

VARIABLE balance    \* balance[a]: what there is on account a.

Init == balance = [a \in Accounts |-> 0]

Deposit(account, amount) == balance' = [balance EXCEPT ![account] = @ + amount]

Withdraw(account, amount) == balance' = [balance EXCEPT ![account] = @ - amount]

Next == \E account \in Accounts, amount \in Amounts : Deposit(account, amount) \/ Withdraw(account, amount)

Spec == Init /\ [][Next]_balance

Solvent ==
    /\ \A a \in Accounts : balance[a] \in Int
    /\ balance["savings"] + balance["current"] >= 0
=============================================================================
