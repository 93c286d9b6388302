// A page in Porcupine's format, for comparison: all data as JSON in one file, and an SVG with a box, a text and a
// target for each operation and two lines for each placed one. Like Porcupine, the page measures every text before it
// places the boxes, so that each fits.

import { readFileSync, writeFileSync } from 'node:fs';

interface Entry {
  ClientId: number;
  Start: number;
  OriginalStart: string;
  End: number;
  OriginalEnd: string;
  Description: string;
  Metadata: string;
}

interface Data {
  Partitions: {
    History: Entry[];
    PartialLinearizations: { Index: number; StateDescription: string }[][];
    Largest: Record<number, number>;
  }[];
  Annotations: [];
}

/** Writes the page for a queue history whose lines are in the order in which operations took effect. */
export function writePeer(trace: string, page: string): void {
  const entries: Entry[] = [];
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const match = /^T(\d+) \[(\d+) (\d+)\] (.*)$/.exec(line);
    if (!match) continue;
    const [, process, start, end, text] = match as unknown as [string, string, string, string, string];
    entries.push({
      ClientId: Number(process),
      Start: Number(start) * 100,
      OriginalStart: start,
      End: Number(end) * 100,
      OriginalEnd: end,
      Description: text,
      Metadata: '',
    });
  }
  const order: { Index: number; StateDescription: string }[] = [];
  const queue: string[] = [];
  for (const [Index, { Description }] of entries.entries()) {
    const value = /\d+/.exec(Description)?.[0];
    if (value && Description.startsWith('Enqueue')) queue.push(value);
    else if (value && queue.shift() !== value) break;
    order.push({ Index, StateDescription: `<<${queue.join(', ')}>>` });
  }
  const Largest = Object.fromEntries(order.map(({ Index }) => [Index, 0]));
  const data: Data = { Partitions: [{ History: entries, PartialLinearizations: [order], Largest }], Annotations: [] };
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const body = '<div id="canvas"></div><div id="calc"></div>';
  writeFileSync(
    page,
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Peer</title><body>${body}<script>(${draw})(${json})</script></body></html>`,
  );
}

/** Runs in the page. */
function draw({ Partitions }: Data): void {
  const add = (parent: Element, tag: string, attributes: Record<string, string | number>): Element => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    return parent.appendChild(element);
  };
  const { History, PartialLinearizations } = Partitions[0]!;
  const scratch = document.querySelector('#calc')!;
  const widths = History.map(({ Description }) => {
    scratch.replaceChildren();
    const text = add(add(scratch, 'svg', {}), 'text', {}) as SVGTextElement;
    text.textContent = Description;
    return text.getBBox().width + 20;
  });
  const times = [...new Set(History.flatMap(({ Start, End }) => [Start, End]))].sort((a, b) => a - b);
  const byEnd = History.map((entry, at) => ({ ...entry, width: widths[at]! })).sort((a, b) => a.End - b.End);
  const x = new Map<number, number>();
  let position = 0;
  let next = 0;
  for (const time of times) {
    for (; next < byEnd.length && byEnd[next]!.End <= time; next++) {
      position = Math.max(position, x.get(byEnd[next]!.Start)! + byEnd[next]!.width);
    }
    x.set(time, position);
    position += 20;
  }
  const clients = Math.max(...History.map(({ ClientId }) => ClientId)) + 1;
  const height = 45 * clients + 20;
  const svg = add(document.querySelector('#canvas')!, 'svg', { width: position + 80, height });
  const boxes = add(svg, 'g', {});
  const targets = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  for (const { Start, End, ClientId, Description } of History) {
    const g = add(boxes, 'g', {});
    const box = { x: x.get(Start)! + 40, y: 10 + ClientId * 45, width: x.get(End)! - x.get(Start)!, height: 30 };
    add(g, 'rect', { ...box, rx: 4, fill: '#d9e4ff' });
    const text = add(g, 'text', { x: box.x + box.width / 2, y: box.y + 15, 'text-anchor': 'middle' });
    text.textContent = Description;
    add(targets, 'rect', { ...box, fill: 'transparent' }).addEventListener('mouseover', () => undefined);
  }
  for (const order of PartialLinearizations) {
    const g = add(svg, 'g', {});
    let before: { x: number; y: number } | null = null;
    for (const { Index } of order) {
      const { Start, ClientId } = History[Index]!;
      const here: { x: number; y: number } = {
        x: Math.max(x.get(Start)! + 40, before ? before.x + 20 : 0),
        y: 5 + ClientId * 45,
      };
      if (before) add(g, 'line', { x1: before.x, x2: here.x, y1: before.y, y2: here.y, stroke: '#0008' });
      add(g, 'line', { x1: here.x, x2: here.x, y1: here.y, y2: here.y + 40, stroke: '#0008', 'stroke-width': 4 });
      before = here;
    }
  }
  svg.append(targets);
}
