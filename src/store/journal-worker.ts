// The journal's thread: writes batches, answers questions, tidies up in between.
import { yieldToIo } from '../lib/clock.ts';
import { answer, sendNote, takeRequests } from '../lib/worker.ts';
import { asStoreError } from './database.ts';
import type { Selection } from './journal-file.ts';
import { type FolderOptions, type JournalFolder, openFolder, type Page } from './journal-folder.ts';

let options: FolderOptions;
let folder: JournalFolder;
let tending = false;

/** The work of a request, with what went wrong in our words. */
function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error, options.dir);
  }
}

const answers = {
  open: (given: FolderOptions) =>
    attempt(() => {
      options = given;
      folder = openFolder(given, sendNote);
    }),
  append: (rows: readonly (string | number)[]) => attempt(() => folder.append(rows)),
  query: (selection: Selection) => attempt(() => folder.query(selection)),
  page: (selection: Selection, start?: Page['next']) => attempt(() => folder.page(selection, start)),
  days: () => attempt(() => folder.days()),
  close: () => folder.close(),
};

/** What the journal's worker answers. */
export type JournalAnswers = typeof answers;

takeRequests(requests => {
  for (const request of requests) void answer(answers, request);
  void tend();
});

async function tend(): Promise<void> {
  if (tending) return;
  tending = true;
  try {
    do await yieldToIo();
    while (folder.tend());
  } catch (error) {
    sendNote(`tidying up the journal failed: ${asStoreError(error, options.dir).message}`);
  }
  tending = false;
}
