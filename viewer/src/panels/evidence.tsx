// How much an accepted history tested, in a line.

import { duration } from '../data/clock.ts';
import { testedIn } from '../data/tested.ts';
import type { Report } from '../data/types.ts';
import { brief, count, many } from '../text.ts';
import { liveHistory } from './local.ts';

export function Evidence({ report }: { report: Report }) {
  const past = liveHistory();
  if (!past) return null;
  const { actions, overview } = past.timeline;
  const tested = testedIn(past);
  const said: string[] = [];
  const most = overview.flights.reduce((most, flight) => Math.max(most, flight), 0);
  if (tested) said.push(`${tested.overlapped === past.size ? 'All' : count(tested.overlapped)} overlapped another`);
  if (!past.hasPoints && most > 1) said.push(`at most ${count(most)} at once`);
  const never = actions.filter(action => action.count === 0).map(action => action.name);
  const occurred = `${actions.length - never.length} of ${many(actions.length, 'action')} occurred`;
  said.push(never.length > 0 ? `${occurred}, never ${brief(never.join(', '), 120)}` : occurred);
  const guards = report.coverage?.actions.flatMap(action => action.parts.filter(part => part.kind === 'guard'));
  if (guards && guards.length > 0) {
    const idle = guards.filter(guard => guard.refused === 0);
    const some = idle.length <= 2 ? `: ${brief(idle.map(guard => guard.text).join(', '), 120)}` : '';
    said.push(
      idle.length === 0
        ? 'every guard was false once'
        : `${idle.length} of ${many(guards.length, 'guard')} never false${some}`,
    );
  }
  if (tested?.median != null) said.push(`median ${duration(tested.median, past.clock)}`);
  const missing = report.level?.missing ?? 0;
  if (missing > 0) said.push(`${many(missing, 'operation')} missed others`);
  return <p>{said.join('; ')}.</p>;
}
