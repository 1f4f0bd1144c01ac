// The thread of one backup or restore: copying gigabytes must not hold the main loop.
import { answerRequests } from '../lib/worker.ts';
import { writeBackup } from './backup-files.ts';
import { restoreFiles } from './restore-files.ts';

const answers = { write: writeBackup, restore: restoreFiles };

/** What the backup's worker answers. */
export type BackupAnswers = typeof answers;

answerRequests(answers);
