// All tests, in one process, and in one browser of each kind. Those that measure time come last and run alone, because
// the machine may have few cores.

import { after } from 'node:test';
import { close } from './browser.ts';
import './golden.test.ts';
import './look.test.ts';
import './schedules.test.ts';
import './walk.test.ts';
import './view.test.ts';
import './firefox.test.ts';
import './speed.test.ts';

after(close);
