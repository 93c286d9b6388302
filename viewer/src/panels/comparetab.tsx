// Another run of the same program beside this one: the operations of both side by side, with differences marked.

import { signal } from '@preact/signals';
import { duration } from '../data/clock.ts';
import type { ComparedOperation, ComparedRow, Comparison } from '../data/types.ts';
import { history, run } from '../state.ts';
import { brief, count } from '../text.ts';
import { notify, showNamed } from './local.ts';
import { Button, Fact, Sentence } from './parts.tsx';
import { Marked, marked, type Stretch } from './value.tsx';
import { Rows } from './virtual.tsx';

/** True if rows that are the same in both are left out. */
const onlyDifferences = signal(false);
const active = signal<number | null>(null);

const KINDS: Record<ComparedRow['kind'], [sign: string, word: string]> = {
  same: ['=', 'same'],
  results: ['≠', 'results'],
  arguments: ['≠', 'arguments'],
  'only-here': ['+', 'only here'],
  'only-there': ['−', 'only there'],
};

export function CompareTab() {
  const compared = run.value?.compared;
  return compared ? <Compared compared={compared} /> : null;
}

function Compared({ compared }: { compared: Comparison }) {
  const { here, there, verdicts } = compared;
  const rows = onlyDifferences.value ? compared.rows.filter(row => row.kind !== 'same') : compared.rows;
  const figures: [string, string][] = [
    [`here, ${brief(here, 60)}`, brief(verdicts[0], 40)],
    [`there, ${brief(there, 60)}`, brief(verdicts[1], 40)],
    ['same in both', count(compared.same)],
    ['left out', count(compared.left_out)],
  ];
  return (
    <div class="compared">
      <div class="padded">
        <p>
          <Sentence text={compared.sentence} width={600} />
        </p>
        <div class="line">
          <dl class="facts">
            {figures.map(([name, value]) => (
              <Fact name={name}>
                <b>{value}</b>
              </Fact>
            ))}
          </dl>
          <Button
            class="small"
            aria-pressed={onlyDifferences.value}
            onClick={() => {
              onlyDifferences.value = !onlyDifferences.value;
              active.value = null;
            }}
          >
            Only differences
          </Button>
        </div>
      </div>
      {rows.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <Rows
          label="Operations of both runs"
          count={rows.length}
          height={26}
          columns={4}
          active={active.value}
          onActive={row => (active.value = row)}
          onOpen={row => void show(rows[row]!)}
          rowClass={row => (rows[row]!.kind === 'same' ? '' : 'differing')}
          header={['', 'operation', 'here', 'there'].map(title => (
            <span role="columnheader">{title || <span class="offscreen">difference</span>}</span>
          ))}
          draw={row => <Row row={rows[row]!} />}
        />
      )}
    </div>
  );
}

function Row({ row }: { row: ComparedRow }) {
  const { here, there } = row;
  const [sign, word] = KINDS[row.kind] ?? ['?', row.kind];
  const [left, right] = marked([here?.text ?? '', there?.text ?? '']);
  return (
    <>
      <span role="gridcell">
        <b aria-hidden="true">{sign}</b> <span class="word">{brief(word, 20)}</span>
      </span>
      <span role="gridcell">
        {here ? (
          <Button
            class="op"
            tabIndex={-1}
            title={`${brief(row.name, 80)}: show in the timeline`}
            onClick={() => void show(row)}
          >
            {brief(row.name, 40)}
          </Button>
        ) : (
          brief(row.name, 40)
        )}
      </span>
      <Side operation={here} words={there ? left! : whole(here)} />
      <Side operation={there} words={here ? right! : whole(there)} />
    </>
  );
}

/** An operation that the other run lacks differs as a whole. */
function whole(operation: ComparedOperation | null): Stretch[] {
  return [{ text: operation?.text ?? '', differs: true }];
}

function Side({ operation, words }: { operation: ComparedOperation | null; words: Stretch[] }) {
  if (!operation) return <span role="gridcell" class="quiet" />;
  const { start, end, step } = operation;
  const took = end === null ? 'unfinished' : duration(end - start, history.value?.clock ?? null);
  return (
    <span role="gridcell" title={`${brief(operation.text, 400)} · ${took}`}>
      <Marked words={words} width={120} />{' '}
      <span class="quiet">
        {step === null ? 'not placed' : `#${count(step)}`}
        {end === null && ', unfinished'}
      </span>
    </span>
  );
}

/** Shows an operation of this run in the timeline. */
async function show(row: ComparedRow): Promise<void> {
  if (!row.here || !(await showNamed(row.name))) notify(`${brief(row.name, 40)} is not in this run`);
}
