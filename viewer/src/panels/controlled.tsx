// The side panel of a controlled run: the two accesses of a data race, threads that wait for each other, and the line of
// the program at the chosen step.

import { type Access, accessesOf, allowing, cycleOf, statementOf, type Wait, waitsOf } from '../data/schedule.ts';
import type { Interleaving, Run } from '../data/types.ts';
import { base, brief, list } from '../text.ts';
import { Copy, Section, Sentence } from './parts.tsx';
import { chosenStep } from './schedule.tsx';

/** A line of the program, and the words beside it. */
interface Mark {
  place: string;
  label: string;
  isBad: boolean;
}

/** Lines that are shown before and after a marked one. */
const AROUND = 2;

/** The marked lines of the program with those around them, file by file. */
function Source({ shown, marks }: { shown: Interleaving; marks: Mark[] }) {
  const files = (shown.sources ?? []).map(({ path, first, lines }) => {
    const labels = new Map<number, Mark[]>();
    for (const mark of marks) {
      const [, file, number] = /^(.*):(\d+)$/.exec(mark.place) ?? [];
      if (file === path) labels.set(Number(number), [...(labels.get(Number(number)) ?? []), mark]);
    }
    const numbers = lines.map((_, at) => at + first);
    const near = numbers.filter(number => [...labels.keys()].some(each => Math.abs(each - number) <= AROUND));
    const isBlank = (number: number) => lines[number - first]!.trim() === '';
    const kept = near.filter(
      (number, at) => !isBlank(number) || (near[at - 1] === number - 1 && near[at + 1] === number + 1),
    );
    const indent = Math.min(...kept.flatMap(number => indentOf(lines[number - first]!) ?? []));
    return { path, labels, kept, textOf: (number: number) => lines[number - first]!.slice(indent) };
  });
  return files
    .filter(({ kept }) => kept.length > 0)
    .map(({ path, labels, kept, textOf }) => (
      <figure class="card code">
        <figcaption class="quiet">{brief(path.split('/').slice(-3).join('/'), 120)}</figcaption>
        {kept.map((number, at) => (
          <>
            {at > 0 && number > kept[at - 1]! + 1 && <div class="quiet">…</div>}
            <div
              class={labels.has(number) ? `marked ${labels.get(number)!.some(({ isBad }) => isBad) ? 'bad' : ''}` : ''}
            >
              <span class="number">{number}</span>
              <code>{brief(textOf(number), 300)}</code>
              {labels.has(number) && <b>{[...new Set(labels.get(number)!.map(({ label }) => label))].join(', ')}</b>}
            </div>
          </>
        ))}
      </figure>
    ));
}

/** The white space before a line; null if it has nothing else. */
function indentOf(line: string): number | null {
  const at = line.search(/\S/);
  return at < 0 ? null : at;
}

/** The chosen step of the schedule, and its line. */
export function ChosenStep({ shown }: { shown: Interleaving }) {
  const step = shown.steps.find(({ number }) => number === chosenStep.value);
  if (!step) return null;
  const { code, effect } = statementOf(step);
  const name = shown.threads[step.thread] ?? '';
  return (
    <Section id="h-step" title={`Step ${step.number}`} note={brief(name, 40)}>
      <p class="card">
        <code>{brief(code, 200)}</code> {brief(effect, 80)}
        {step.function && <span class="quiet"> in {brief(step.function, 120)}</span>}
      </p>
      {step.place && <Source shown={shown} marks={[{ place: step.place, label: name, isBad: false }]} />}
    </Section>
  );
}

/** A data race: its accesses, why nothing orders them, and how to allow it. */
export function Race({ run, shown }: { run: Run; shown: Interleaving | null | undefined }) {
  const accesses = accessesOf(run, shown);
  const text = allowing(accesses);
  const marks = accesses.flatMap(({ thread, place, does }) =>
    place ? [{ place, label: `${thread} ${does}`, isBad: true }] : [],
  );
  return (
    <>
      <Section id="h-why" title="The two accesses">
        {accesses.map(access => (
          <div class="card bad">
            <h3>
              {brief(access.thread, 40)} {access.does}
              {access.operation && (
                <>
                  {' '}
                  in <code>{brief(access.operation.replace(/ = .*$/s, ''), 80)}</code>
                </>
              )}
            </h3>
            {access.frames.map(({ name, place }) => (
              <p class="frame">
                <code>{brief(name.replace(/\(.*$/s, ''), 80)}</code>{' '}
                <span class="quiet" title={brief(place, 300)}>
                  {brief(base(place), 80)}
                </span>
              </p>
            ))}
          </div>
        ))}
        {shown && <Source shown={shown} marks={marks} />}
      </Section>
      <Section id="h-orders" title="What orders them">
        <p class="card">
          <Sentence text={orderText(accesses, shown)} width={700} />
        </p>
      </Section>
      <Section id="h-meant" title="If the race is meant">
        <div class="card">
          <p>Allow it in omnilink.toml, with your reason:</p>
          <pre>
            {brief(text, 400) === text
              ? text
              : text
                  .split('\n')
                  .map(line => brief(line, 200))
                  .join('\n')}
          </pre>
          <Copy text={text} what="settings" />
        </div>
      </Section>
    </>
  );
}

/** What orders other accesses of the two operations, and not these. */
function orderText(accesses: Access[], shown: Interleaving | null | undefined): string {
  const [first, second] = accesses;
  const isHalf = accesses.some(({ does }) => does.startsWith('atomically'));
  const isOfThem = (thread: string | undefined) => accesses.some(access => access.thread === thread);
  const inside = (shown?.steps ?? []).filter(step => step.kind === 'inside' && isOfThem(shown?.threads[step.thread]));
  const atomic = inside.filter(({ does = '' }) => /^(loads|stores|updates)$/.test(does));
  const names = [...new Set(atomic.map(step => `\`${brief(statementOf(step).code, 60)}\``))];
  const locks = [...new Set(inside.flatMap(({ does = '' }) => /^locks.*(#\d+)$/.exec(does)?.[1] ?? []))];
  const others = [
    names.length > 0
      ? `${list(names, 4)} ${names.length === 1 ? 'is' : 'are'} atomic; ${isHalf ? 'one of these accesses is not' : 'these accesses are not'}. `
      : '',
    locks.length > 0 ? `No lock covers both: there ${locks.length === 1 ? 'is' : 'are'} ${list(locks)}. ` : '',
  ];
  return `Nothing. ${others.join('')}Between them ${first?.thread} does not unlock, end or write anything atomic that ${second?.thread} waits for, so they may also happen in the other order, or at the same time.`;
}

/** Threads that are stuck: who waits for whom, and where. */
export function Waits({ shown }: { shown: Interleaving }) {
  const waits = waitsOf(shown);
  const cycle = cycleOf(waits);
  const marks = waits.flatMap(({ place, thread }) => (place ? [{ place, label: `${thread} waits`, isBad: true }] : []));
  return (
    <>
      <Section id="h-why" title="Who waits for whom">
        <div class="card bad">
          <Picture waits={waits} cycle={cycle} />
          <ul class="whom">
            {waits.map(wait => (
              <li>
                <b>{brief(wait.thread, 40)}</b> {wait.operation && <code>{brief(wait.operation, 60)}</code>}
                {wait.place && (
                  <span class="quiet" title={brief(wait.place, 300)}>
                    {' '}
                    {brief(base(wait.place), 80)}
                  </span>
                )}
                <br />
                {waitText(wait)}
              </li>
            ))}
          </ul>
        </div>
      </Section>
      {marks.length > 0 && (shown.sources ?? []).length > 0 && (
        <Section id="h-source" title="Where they wait">
          <Source shown={shown} marks={marks} />
        </Section>
      )}
    </>
  );
}

function waitText({ does, lock, holder, thread, since }: Wait): string {
  const from = since === null ? '' : ` since step ${since}`;
  if (!lock) return `${does}${from}`;
  if (!holder) return `waits for lock ${lock}${from}`;
  const by = holder.thread === thread ? 'itself' : holder.thread;
  const operation = holder.operation ? ` in ${brief(holder.operation, 60)}` : '';
  const taken = holder.step === null ? '' : `, since step ${holder.step}`;
  return `waits for lock ${lock}, held by ${by}${operation}${taken}`;
}

/** The size of a thread in the picture, and the distance of threads. */
const [WIDE, HIGH, APART] = [64, 28, 150];

/** An arrow from each waiting thread to the one that holds its lock; those of a cycle are red. */
function Picture({ waits, cycle }: { waits: Wait[]; cycle: Wait[] }) {
  const holding = waits.filter(({ holder }) => holder !== null);
  const others = holding.filter(wait => !cycle.includes(wait));
  const names = [...new Set([...cycle, ...others].flatMap(({ thread, holder }) => [thread, holder!.thread]))];
  if (names.length === 0 || names.length > 4) return null;
  // Two in a row, the others below.
  const at = (name: string): [number, number] => {
    const i = names.indexOf(name);
    return [8 + WIDE / 2 + (i % 2) * APART, HIGH / 2 + 22 + Math.floor(i / 2) * 84];
  };
  const height = HIGH + 44 + (names.length > 2 ? 66 : 0);
  const isMutual = (a: Wait) => holding.some(b => b.thread === a.holder!.thread && b.holder!.thread === a.thread);
  return (
    <svg class="waitsfor" viewBox={`0 0 ${APART + WIDE + 60} ${height}`} role="img" aria-label="Threads that wait">
      {holding.map(wait => {
        const [[x, y], [u, v]] = [at(wait.thread), at(wait.holder!.thread)];
        const kind = cycle.length === 0 || cycle.includes(wait) ? 'cycle' : '';
        if (wait.thread === wait.holder!.thread) {
          const right = x + WIDE / 2;
          return (
            <g class={kind}>
              <path d={`M${right} ${y - 7} C${right + 46} ${y - 26} ${right + 46} ${y + 26} ${right + 5} ${y + 8}`} />
              <path class="head" d={`M${right} ${y + 7} l9 -4 l0 9 z`} />
              <text x={right + 42} y={y + 4}>
                lock {wait.lock}
              </text>
            </g>
          );
        }
        // Arrows in both directions bend to different sides.
        const [dx, dy] = [u - x, v - y];
        const length = Math.hypot(dx, dy);
        const [nx, ny] = [dy / length, -dx / length];
        // Where the line leaves a box.
        const out = Math.min(dx ? WIDE / 2 / Math.abs(dx) : 1, dy ? HIGH / 2 / Math.abs(dy) : 1);
        const start = [x + dx * out, y + dy * out];
        const end = [u - dx * out, v - dy * out];
        const bend = isMutual(wait) ? 26 : 0;
        const middle = [(start[0]! + end[0]!) / 2 + nx * bend, (start[1]! + end[1]!) / 2 + ny * bend];
        const angle = (Math.atan2(end[1]! - middle[1]!, end[0]! - middle[0]!) * 180) / Math.PI;
        return (
          <g class={kind}>
            <path d={`M${start} Q${middle} ${end}`} />
            <path class="head" d="M0 0 l-9 -4.5 l0 9 z" transform={`translate(${end}) rotate(${angle})`} />
            <text
              x={middle[0]! + (bend || dy === 0 ? 0 : 6)}
              y={middle[1]! + (bend ? (ny > 0 ? 4 : 3) : dy === 0 ? -6 : 14)}
              text-anchor={bend || dy === 0 ? 'middle' : 'start'}
            >
              lock {wait.lock}
            </text>
          </g>
        );
      })}
      {names.map(name => {
        const [x, y] = at(name);
        return (
          <g class="thread">
            <rect x={x - WIDE / 2} y={y - HIGH / 2} width={WIDE} height={HIGH} rx="6" />
            <text x={x} y={y + 5} text-anchor="middle">
              {brief(name, 8)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
