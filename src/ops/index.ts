// THE table of operations. MCP, REST, CLI, the bus and the docs come from it.

import type { z } from 'zod';
import { deviceOps } from './devices.ts';
import type { Gateway } from './gateway.ts';
import { historyOps } from './history.ts';
import { houseOps } from './house.ts';
import type { Op } from './op.ts';
import { ruleOps } from './rules.ts';
import { systemOps } from './system.ts';

/** All operations, in the order in which they are listed. */
export const ops = [...ruleOps, ...deviceOps, ...historyOps, ...houseOps, ...systemOps] as unknown as readonly Op<
  z.ZodObject,
  z.ZodObject,
  Gateway
>[];
