// The begin and the end of printing. Browsers announce both as events of the window, or as a change of the media if that is
// emulated, so each function may be called twice.

/** Returns the function that stops it. */
export function onPrint(begin: () => void, end: () => void = () => {}): () => void {
  const print = matchMedia('print');
  const change = () => (print.matches ? begin() : end());
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  print.addEventListener('change', change);
  return () => {
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
    print.removeEventListener('change', change);
  };
}
