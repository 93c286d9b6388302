// The page.

import { report } from './state.ts';
import { Overview } from './timeline/overview.tsx';
import { Timeline } from './timeline/timeline.tsx';

export function App() {
  const verdict = report.value?.verdict;
  return (
    <main>
      <h1>{verdict?.kind}</h1>
      <Overview />
      <Timeline />
    </main>
  );
}
