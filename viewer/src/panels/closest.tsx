// A test without a specification beside the serial run that comes closest: the same calls one after the other. An answer
// that differs is red in the test, and green in the serial run.

import type { ClosestRun, Operation, TestedCall } from '../data/types.ts';
import { many } from '../text.ts';
import { Bands, room } from './boxes.tsx';
import { showNamed, windowWidth } from './local.ts';

/** A call as an operation with this answer and these times. */
function operationOf({ process, call, outcome, index }: Placement): Operation {
  const [, action = call, args = ''] = /^([^(]*)\((.*)\)$/s.exec(call.call) ?? [];
  const { answer, start, end } = outcome;
  const value = answer.replace(/^ = /, '');
  return {
    name: `${process}:${index}`,
    process,
    text: call.call + answer,
    action: String(action),
    args: args ? [{ name: '', value: args }] : [],
    results: answer.startsWith(' = ') ? [{ name: '', value }] : [],
    start,
    end,
    meta: [],
    ...(answer === ' blocks' ? { outcome: 'blocked' as const } : {}),
  };
}

interface Placement {
  process: string;
  call: TestedCall;
  outcome: { answer: string; start: number; end: number | null };
  index: number;
}

export function Closest({ run: { calls, order } }: { run: ClosestRun }) {
  const indexOf = (at: number) => calls.slice(0, at).filter(({ process }) => process === calls[at]!.process).length;
  const made = calls.map((call, at) => operationOf({ process: call.process, call, outcome: call, index: indexOf(at) }));
  const serial = order.map((at, place) => {
    const call = calls[at]!;
    const answer = call.serial ?? call.answer;
    const outcome = { answer, start: 2 * place, end: answer === ' blocks' ? null : 2 * place + 1 };
    return operationOf({ process: call.process, call, outcome, index: indexOf(at) });
  });
  const differs = (at: number) => calls[at]!.serial != null;
  const half = windowWidth.value > 1200 ? (room() - 60) / 2 : room();
  const agreeing = calls.filter((_, at) => order.includes(at) && !differs(at)).length;
  return (
    <section class="happened pair" aria-labelledby="h-window">
      <div>
        <h2>
          <span id="h-window">What happened</span>
          <span class="note"> · the whole test, {many(calls.length, 'call')}</span>
        </h2>
        <div class="card" tabIndex={0} role="group" aria-label="The test, by thread">
          <Bands
            operations={made}
            refs={made.map((_, at) => at)}
            failing={made.map((_, at) => at).filter(differs)}
            order={[]}
            room={half}
            act={op => void showNamed(made[op]!.name)}
          />
        </div>
      </div>
      <div>
        <h2>
          The closest serial run
          <span class="note">
            {' '}
            · agrees in {agreeing} of {many(calls.length, 'answer')}
          </span>
        </h2>
        <div class="card" tabIndex={0} role="group" aria-label="The closest serial run, by thread">
          <Bands
            operations={serial}
            refs={serial.map((_, at) => at)}
            failing={[]}
            wanted={order.flatMap((at, place) => (differs(at) ? [place] : []))}
            order={serial.map((_, at) => at)}
            room={half}
            act={op => void showNamed(serial[op]!.name)}
          />
          {order.length < calls.length && (
            <p class="quiet">It blocks there: {many(calls.length - order.length, 'call')} of the test cannot follow.</p>
          )}
        </div>
      </div>
    </section>
  );
}
