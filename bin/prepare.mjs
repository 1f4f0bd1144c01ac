// Before the tests: installs what is missing, as `npm start` does, and starts nothing.
import { checkNode, ensureInstalled, ROOT } from './toolchain.mjs';

checkNode(ROOT);
ensureInstalled(ROOT, { dev: true });
