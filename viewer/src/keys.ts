// Keyboard shortcuts: runs the command bound to a key, unless a text field has the focus or a dialog is open.

import { COMMANDS } from './commands.ts';
import { dialog, menu } from './panels/local.ts';

/** Starts listening; returns the function that stops it. */
export function followKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const wide = event.ctrlKey || event.metaKey;
    if (
      wide &&
      !event.altKey &&
      (event.key.toLowerCase() === 'k' || (event.shiftKey && event.key.toLowerCase() === 'p'))
    ) {
      event.preventDefault();
      dialog.value = dialog.value === 'palette' ? null : 'palette';
      return;
    }
    if (wide || event.altKey || event.defaultPrevented || dialog.value !== null) return;
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (target?.closest('input, textarea, select, [contenteditable]')) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (menu.value !== null && event.key !== 'Escape') return;
    const command = COMMANDS.find(each => each.key === event.key && each.when());
    if (!command) return;
    event.preventDefault();
    command.run();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}
