// The rule that the failing operation breaks: the action with its line numbers, the conjunct that is false with the
// values of its parts below it, and the conjuncts around it. States in which something else is wrong are folded.
//
// Enter on a conjunct selects its operation in the timeline, so that the keyboard alone leads from the verdict to it.

import { useState } from 'preact/hooks';
import { spelled } from '../data/spelling.ts';
import { tree } from '../data/tree.ts';
import type { Conjunct, Guard, OpRef, Reason, Report } from '../data/types.ts';
import type { BrokenView } from '../data/verdict.ts';
import { brief, letter, lineOf, list, many } from '../text.ts';
import { showOp } from './local.ts';
import { glyph, gravest, groups, reasonText } from './outcome.ts';
import { Button, Op, Place, Sentence } from './parts.tsx';
import { Value } from './value.tsx';
import { nameOf } from './words.ts';

/** The letters of a line of the side panel. */
const ROOM = 36;
/** The letters of values of other states that are not folded. */
const BRIEF = 140;
/** A conjunct of more characters is cut after some lines. */
const LONG = 160;

/** The conjuncts of an action or an invariant. `states` are indices into the possible states. */
function Conjuncts({ report, conjuncts, states, op }: ConjunctsProps) {
  const [all, setAll] = useState(false);
  const worst = conjuncts.map(conjunct => glyph(gravest(conjunct.outcomes)));
  const unreached = worst.filter(({ word }) => word === 'not reached').length;
  return (
    <>
      <ul class="conjuncts">
        {conjuncts.map((conjunct, at) => {
          const { sign, word, tone } = worst[at]!;
          if (word === 'not reached' && !all) return null;
          const isLong = conjunct.text.length > LONG;
          const inner = (
            <>
              <span class={`sign ${tone}`} aria-hidden="true">
                {sign}
              </span>
              <code class={isLong ? 'long' : ''} title={isLong ? brief(conjunct.text, 2000) : undefined}>
                {brief(conjunct.text, 400)}
              </code>
              <span class="offscreen"> is {word}</span>
            </>
          );
          return (
            <li class={tone}>
              <Place report={report} span={conjunct.span} kind="number" />
              {op === null ? (
                <span class="conjunct">{inner}</span>
              ) : (
                <Button class="conjunct" title="Show the operation in the timeline" onClick={() => showOp(op)}>
                  {inner}
                </Button>
              )}
              {tone !== 'quiet' && tone !== 'good' && <Values conjunct={conjunct} states={states} />}
            </li>
          );
        })}
      </ul>
      {unreached > 0 && !all && (
        <Button class="more" onClick={() => setAll(true)}>
          {many(unreached, 'more conjunct')}
        </Button>
      )}
    </>
  );
}

interface ConjunctsProps {
  report: Report;
  conjuncts: Conjunct[];
  states: number[];
  op: OpRef | null;
}

/** The values of the parts of a conjunct: below it for the first states in which it is not true, in a line for others. */
function Values({ conjunct, states }: { conjunct: Conjunct; states: number[] }) {
  const [all, setAll] = useState(false);
  const found = groups(conjunct).filter(({ outcome }) => outcome !== 'not-reached');
  const first = found.find(({ outcome }) => outcome !== 'true') ?? found[0];
  if (!first) return null;
  const others = found.filter(group => group !== first);
  // Long values of other states are folded.
  let room = BRIEF;
  const fits = ({ values }: (typeof others)[number]) => {
    for (const { text, value } of values) room -= text.length + value.length;
    return room >= 0;
  };
  const shown = all ? others : others.filter(fits).slice(0, 4);
  const where = (at: number[]) => `in ${list(at.map(each => letter(states[each] ?? each)))}`;
  const values = first.values.map(({ text, value }) => ({ text, value: spelled(value) }));
  const { word, tone } = glyph(first.outcome);
  const below = tree(conjunct.text, values, ROOM);
  const error = typeof first.outcome === 'object' && 'error' in first.outcome ? first.outcome.error : null;
  return (
    <>
      {below ? (
        <pre class="tree">
          {below.map(line => `${brief(line, 400)}\n`)}
          <b class={tone}>→ {word}</b>
        </pre>
      ) : (
        <p class="outcome">
          <Line values={values} word={word} tone={tone} />
        </p>
      )}
      {error !== null && (
        <p class="outcome">
          <Sentence text={error} width={300} />
        </p>
      )}
      {found.length > 1 && <p class="outcome">{where(first.at)}</p>}
      {shown.map(group => (
        <p class="outcome">
          {where(group.at)}: <Line values={group.values} {...glyph(group.outcome)} />
        </p>
      ))}
      {others.length > shown.length && (
        <Button class="more" onClick={() => setAll(true)}>
          {others.length - shown.length} more
        </Button>
      )}
    </>
  );
}

function Line({ values, word, tone }: { values: { text: string; value: string }[]; word: string; tone: string }) {
  return (
    <>
      {values.map(({ text, value }, at) => (
        <>
          {at > 0 && ', '}
          <code>{brief(text, 80)}</code> is <Value text={spelled(value)} />
        </>
      ))}
      {values.length > 0 && ' → '}
      <strong class={tone}>{word}</strong>
    </>
  );
}

/** The action of a guard as in its source, with what was bound. */
function Action({ report, guard }: { report: Report; guard: Guard }) {
  const source = report.sources[guard.span.source]?.text;
  const line = source?.split('\n')[lineOf(source, guard.span.start).line - 1]?.trim();
  return (
    <p class="action">
      <Place report={report} span={guard.span} kind="number" />
      <code>{brief(line || guard.action, 120)}</code>
      {guard.choices.length > 0 && (
        <span class="bound">
          with{' '}
          {guard.choices.map(({ name, value }, at) => (
            <>
              {at > 0 && ', '}
              <code>
                {brief(name, 40)} = <Value text={spelled(value)} />
              </code>
            </>
          ))}
        </span>
      )}
      {guard.ways > 1 && <span class="bound quiet">{guard.ways} alternatives; this one got furthest</span>}
    </p>
  );
}

function Against({ report, reason, total }: { report: Report; reason: Reason; total: number }) {
  const { why, op } = reason;
  return (
    <article class={`card ${why.kind === 'time' ? 'wait' : why.kind === 'error' ? 'odd' : 'bad'}`}>
      {why.kind === 'guard' ? (
        <>
          <Action report={report} guard={why} />
          <Conjuncts report={report} conjuncts={why.conjuncts} states={reason.states} op={op} />
        </>
      ) : (
        <p class="words">
          <Button class="conjunct" title="Show the operation in the timeline" onClick={() => showOp(op)}>
            {nameOf(report, op)}:
          </Button>{' '}
          {why.kind === 'dead' ? (
            'It is legal here, but every order that continues with it gets stuck later.'
          ) : (
            <Sentence text={reasonText(report, why)} width={600} />
          )}{' '}
          {'span' in why && why.span && <Place report={report} span={why.span} />}
        </p>
      )}
      {total > 1 && (
        <p class="outcome">
          in {total > reason.states.length ? `${reason.states.length} of ${total}` : `all ${total}`} possible states
        </p>
      )}
    </article>
  );
}

/** A reason that is folded into its first line. */
function Folded({ report, reason, total }: { report: Report; reason: Reason; total: number }) {
  return (
    <details class="line">
      <summary>
        <span class="sign bad" aria-hidden="true">
          ✗
        </span>{' '}
        {nameOf(report, reason.op)}
        {total > 1 && ` in ${reason.states.length} of ${total} states`}: {brief(reasonText(report, reason.why), 120)}
      </summary>
      <Against report={report} reason={reason} total={total} />
    </details>
  );
}

/** All reasons: the first against each failing operation in full, the others folded. */
export function Reasons({ report, reasons, blocked, total }: ReasonsProps) {
  const isMain = (reason: Reason) => (blocked.length === 0 ? reason.why.kind !== 'time' : blocked.includes(reason.op));
  const main = reasons.filter(isMain);
  const first = main.filter((reason, at) => main.findIndex(other => other.op === reason.op) === at).slice(0, 3);
  const folded = main.filter(reason => !first.includes(reason));
  const others = reasons.filter(reason => !isMain(reason) && reason.why.kind !== 'time');
  const waiting = new Map<OpRef, Set<OpRef>>();
  for (const { op, why } of reasons) {
    if (why.kind === 'time' && !blocked.includes(op))
      waiting.set(why.after, (waiting.get(why.after) ?? new Set()).add(op));
  }
  return (
    <>
      {first.map(reason => (
        <Against report={report} reason={reason} total={total} />
      ))}
      {reasons.length === 0 && <p class="quiet">No operation could be next.</p>}
      {folded.slice(0, 40).map(reason => (
        <Folded report={report} reason={reason} total={total} />
      ))}
      {others.length > 0 && (
        <details class="line">
          <summary>{many(new Set(others.map(({ op }) => op)).size, 'other operation')} could be next</summary>
          {others.slice(0, 40).map(reason => (
            <Folded report={report} reason={reason} total={total} />
          ))}
        </details>
      )}
      {[...waiting].map(([after, ops]) => (
        <details class="line">
          <summary>
            {many(ops.size, 'other operation')} began after {nameOf(report, after)} returned
          </summary>
          <ul class="ops">
            {[...ops].slice(0, 60).map(op => (
              <li>
                <Op report={report} op={op} />
              </li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}

interface ReasonsProps {
  report: Report;
  reasons: Reason[];
  blocked: OpRef[];
  total: number;
}

/** An invariant that every order violates. */
export function Violated({ report, violation }: { report: Report; violation: BrokenView }) {
  const op = violation.broke?.[0] ?? violation.blocked[0] ?? null;
  return (
    <article class="card bad">
      <p class="action">
        <Place report={report} span={violation.span} kind="number" />
        <code>{brief(violation.invariant, 80)}</code>
        {op !== null && (
          <span class="bound">
            {violation.broke?.length ? 'false after' : 'no order is left when'} <Op report={report} op={op} />
            {!violation.broke?.length && ' returns'}
          </span>
        )}
      </p>
      <Conjuncts report={report} conjuncts={violation.conjuncts} states={violation.states.map((_, at) => at)} op={op} />
    </article>
  );
}
