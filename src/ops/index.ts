// THE table of operations. MCP, REST, CLI, the bus and the docs come from it.

import type { z } from 'zod';
import { administrationOps } from './administration.ts';
import { backupOps } from './backups.ts';
import { deviceOps } from './devices.ts';
import type { Gateway } from './gateway.ts';
import { historyOps } from './history.ts';
import { houseOps } from './house.ts';
import type { Op } from './op.ts';
import { roomOps } from './rooms.ts';
import { ruleOps } from './rules.ts';
import { sceneOps } from './scenes.ts';
import { swapOps } from './swap.ts';
import { systemOps } from './systems.ts';
import { waitOps } from './wait.ts';

/** All operations, in the order in which they are listed. */
export const ops = [
  ...ruleOps,
  ...deviceOps,
  ...swapOps,
  ...waitOps,
  ...roomOps,
  ...historyOps,
  ...houseOps,
  ...sceneOps,
  ...administrationOps,
  ...backupOps,
  ...systemOps,
] as unknown as readonly Op<z.ZodObject, z.ZodObject, Gateway>[];
