// The source of the page data: script elements of the file, or the server that sent the page.
// Parts are compressed in both cases; `load` returns the plain bytes.

export interface Source {
  /** True for a server: parts are loaded on demand, and requests may carry a query. */
  readonly served: boolean;
  load(name: string, query?: [string, string][]): Promise<Uint8Array>;
}

export interface Parts extends Source {
  /** True if the part is known to be there, in a file. */
  has(name: string): boolean;
}

export function openParts(): Parts {
  return document.getElementById('part-head') ? new FileParts() : new ServedParts();
}

export async function loadJson<T>(parts: Parts, name: string, query?: [string, string][]): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await parts.load(name, query))) as T;
}

class FileParts implements Parts {
  readonly served = false;
  /** Compressed parts that may be loaded again, without the text of their elements, which takes more memory. */
  private readonly kept = new Map<string, Uint8Array<ArrayBuffer>>();

  has(name: string): boolean {
    return document.getElementById(`part-${name}`) !== null;
  }

  async load(name: string): Promise<Uint8Array> {
    const bytes = this.kept.get(name) ?? this.take(name);
    return gunzip(bytes);
  }

  private take(name: string): Uint8Array<ArrayBuffer> {
    const element = document.getElementById(`part-${name}`);
    if (!element) throw new Error(`no part \`${name}\` in this file`);
    const bytes = fromBase64(element.textContent ?? '');
    element.remove();
    if (/^(chunk|order)-/.test(name)) this.kept.set(name, bytes);
    return bytes;
  }
}

class ServedParts implements Parts {
  readonly served = true;

  has(): boolean {
    return false;
  }

  async load(name: string, query: [string, string][] = []): Promise<Uint8Array> {
    const search = new URLSearchParams(query).toString();
    const response = await fetch(search ? `${name}?${search}` : name);
    if (!response.ok) throw new Error((await response.text()) || `the server answered ${response.status}`);
    return gunzip(new Uint8Array(await response.arrayBuffer()));
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
