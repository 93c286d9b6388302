// The page: the verdict above; on the left what happened, the timeline and the tabs; on the right the explanation.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { openTab } from './commands.ts';
import type { IndexHead, RunHead } from './data/types.ts';
import { followKeys } from './keys.ts';
import { Help, Palette } from './palette.tsx';
import { Banner } from './panels/banner.tsx';
import { CompareTab } from './panels/comparetab.tsx';
import { CoverTab, SearchTab } from './panels/covertab.tsx';
import { MenuButton } from './panels/dropdown.tsx';
import { followFilter } from './panels/find.ts';
import { followFit, followPlaces, pending } from './panels/focus.ts';
import { endingOf, headline } from './panels/headline.ts';
import { IndexPage } from './panels/indexpage.tsx';
import { LatencyTab } from './panels/latencytab.tsx';
import { announcement, followAnnounce, followWidth, openMenu, toast, ways } from './panels/local.ts';
import { LogTab } from './panels/logtab.tsx';
import { ContextMenu } from './panels/menu.tsx';
import { MonitorPage } from './panels/monitor.tsx';
import { Orders } from './panels/orders.tsx';
import { Button } from './panels/parts.tsx';
import { ScheduleTab } from './panels/schedule.tsx';
import { Side } from './panels/side.tsx';
import { SpecTab } from './panels/spectab.tsx';
import { StateTab } from './panels/statetab.tsx';
import { Steps } from './panels/steps.tsx';
import { TABS, tabNow, tabRow } from './panels/tabs.ts';
import { Chips, complete, Legend, Toolbar } from './panels/toolbar.tsx';
import { What } from './panels/window.tsx';
import { blocked, collapsed, head, history, problem, SMALL, selection, tab, theme } from './state.ts';
import { followLink, readEarly } from './sync.ts';
import { brief, paragraph } from './text.ts';
import { Overview } from './timeline/overview.tsx';
import { Paper } from './timeline/paper.tsx';
import { onPrint } from './timeline/printing.ts';
import { Timeline } from './timeline/timeline.tsx';
import './style.css';

const link = readEarly();

export function App() {
  useEffect(() => {
    const stops = [
      followKeys(),
      followFilter(),
      followPlaces(),
      followFit(),
      followLink(link),
      followTheme(),
      followWidth(),
      followPending(),
      followAnnounce(),
      followPrint(),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  const page = head.value;
  useEffect(() => {
    // Without a failure, no lane is uninvolved.
    if (page?.kind === 'run' && blocked.value === null) collapsed.value = false;
  }, [page]);
  useEffect(() => {
    if (page?.kind === 'run')
      document.title = `${headline(page.report, page.assumed ?? [], page.run).word.replaceAll('`', '')} · ${brief(page.report.history.name, 80)} · OmniLink`;
    else if (page) document.title = `Runs of ${brief(page.name, 80)} · OmniLink`;
  }, [page]);
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the explanation
      </a>
      {page === null ? <Waiting /> : page.kind === 'index' ? <Many head={page} /> : <RunPage page={page} />}
      <ContextMenu />
      <Palette />
      <Help />
      <div class="offscreen" role="status" aria-live="polite">
        {announcement.value}
      </div>
      {!(page?.kind === 'run' && hasTimeline(page)) && <Toast />}
    </>
  );
}

/** A short-lived message, placed over the timeline if there is one, so that it covers no row. */
function Toast() {
  if (!toast.value) return null;
  return (
    <div class="toast" aria-hidden="true">
      {toast.value}
    </div>
  );
}

function Many({ head }: { head: IndexHead }) {
  return head.monitor ? <MonitorPage head={head} monitor={head.monitor} /> : <IndexPage head={head} />;
}

function hasTimeline(page: RunHead): boolean {
  return page.report.history.operations !== 0;
}

/** The URL fragment holds the view, so the skip link moves the focus by script. */
function focusMain(event: Event): void {
  event.preventDefault();
  const target = document.getElementById('why') ?? document.getElementById('main');
  target?.focus();
  if (!target || document.activeElement === target) return;
  // On a narrow screen, the panel has no box of its own that could have the focus.
  const first = target.querySelector<HTMLElement>('h2');
  if (!first) return;
  first.tabIndex = -1;
  first.focus();
}

function Waiting() {
  return (
    <main id="main" class="loading" tabIndex={-1}>
      <h1>OmniLink</h1>
      {problem.value ? <pre role="alert">! {paragraph(problem.value, 4000)}</pre> : <p>Loading…</p>}
    </main>
  );
}

/** How much of the page is drawn: the verdict first, then the timeline and the explanation, then the tabs. */
const stage = signal(0);

/** Draws the next part after the browser has painted, or soon if it paints nothing, as in a background tab. */
function followStage(): (() => void) | undefined {
  if (stage.value >= 2) return;
  const next = () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    stage.value += 1;
  };
  let timer = window.setTimeout(next, 250);
  const frame = requestAnimationFrame(() => {
    clearTimeout(timer);
    timer = window.setTimeout(next);
  });
  return () => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  };
}

function RunPage({ page }: { page: RunHead }) {
  useEffect(followStage, [stage.value]);
  const ending = endingOf(page.report, page.run);
  return (
    <div class={`page ${ending === 'race' || ending === 'stuck' ? 'scheduled' : ''}`}>
      <Banner head={page} />
      <main id="main" class="left" tabIndex={-1}>
        {hasTimeline(page) && stage.value >= 1 && (
          <>
            {(ending === null || page.report.closest_run) && <What report={page.report} />}
            <section class="upper" aria-label="Timeline">
              <Toolbar />
              <Chips />
              {history.value && history.value.timeline.ranks > SMALL && <Overview />}
              <Timeline onContext={onContext} />
              <Paper />
              <Legend />
              <Toast />
            </section>
          </>
        )}
        {stage.value >= 2 && <Tabs />}
      </main>
      {stage.value >= 1 && <Side head={page} />}
    </div>
  );
}

function onContext(at: number, x: number, y: number): void {
  const name = history.value?.name(at);
  if (name) openMenu({ x, y, name });
}

const PANELS: Record<string, () => preact.JSX.Element | null> = {
  schedule: () => <ScheduleTab />,
  steps: () => <Steps />,
  state: () => <StateTab />,
  spec: () => <SpecTab />,
  log: () => <LogTab />,
  compare: () => <CompareTab />,
  interpretations: () => <Orders />,
  search: () => <SearchTab />,
  latency: () => <LatencyTab />,
  coverage: () => <CoverTab />,
};

const more = signal(false);

function Tabs() {
  const { shown, more: others } = tabRow.value;
  const chosen = tabNow.value;
  const onKey = (event: KeyboardEvent) => {
    const at = shown.indexOf(chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    openTab(shown[(to + shown.length) % shown.length]!);
  };
  return (
    <section class="lower" aria-label="Details">
      <h2 class="offscreen">{TABS[chosen]}</h2>
      <div class="bar">
        <div class="tabs" role="tablist" aria-label="Details" onKeyDown={onKey}>
          {shown.map(name => (
            <Button
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === chosen}
              aria-controls={name === chosen ? `panel-${name}` : undefined}
              tabIndex={name === chosen ? 0 : -1}
              onClick={() => (tab.value = name)}
            >
              {TABS[name]}
              {name === 'interpretations' && <span class="quiet"> {ways.value}</span>}
            </Button>
          ))}
        </div>
        {others.length > 0 && (
          <MenuButton
            open={more}
            name="More"
            title="More tabs"
            items={others.map(name => [TABS[name]!, () => openTab(name)])}
          />
        )}
        <Legend />
      </div>
      <div class="panel" role="tabpanel" id={`panel-${chosen}`} aria-labelledby={`tab-${chosen}`} tabIndex={0}>
        {PANELS[chosen]!()}
      </div>
    </section>
  );
}

/** Applies the theme and stores it for other pages. */
function followTheme(): () => void {
  try {
    const kept = localStorage.getItem('omnilink-theme');
    if (kept === 'light' || kept === 'dark') theme.value = kept;
  } catch {
    // Storage is unavailable: the theme is not saved.
  }
  return theme.subscribe(value => {
    if (value === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
    try {
      localStorage.setItem('omnilink-theme', value);
    } catch {
      // As above.
    }
  });
}

/** Unfolds everything while the page is printed. */
function followPrint(): () => void {
  const all = (selector: string) => [...document.querySelectorAll<HTMLDetailsElement>(selector)];
  // Both events may come, so what was unfolded is remembered at the elements.
  const open = () => {
    for (const details of all('details:not([open])')) {
      details.open = true;
      details.dataset.printed = '';
    }
  };
  const close = () => {
    for (const details of all('details[data-printed]')) {
      details.open = false;
      delete details.dataset.printed;
    }
  };
  return onPrint(open, close);
}

/** Completes a pending assumption when its second operation is selected. */
function followPending(): () => void {
  return selection.subscribe(at => {
    const name = at === null || pending.peek() === null ? null : history.peek()?.name(at);
    if (name) complete(name);
  });
}
