// What the tables of kinds cannot say: the names that other systems have for a kind, and what is easily got wrong.

import type { FINDING_CODES } from '../../src/model/finding.ts';

/** Notes on a kind. */
export interface KindNotes {
  /** System → what its users look for. */
  readonly elsewhere: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
}

type Notes = Readonly<Record<string, KindNotes>>;

const SEED = 'Hubitat MCP';
const HA = 'Home Assistant';
const RM = 'Rule Machine';
const IOB = 'ioBroker';
const NR = 'Node-RED';

/** Code of a finding → what it says, and whether it refuses a save. */
export const FINDINGS: Readonly<Record<(typeof FINDING_CODES)[number], string>> = {
  loop: 'its runs could start it again, by itself or through other rules; refused where nothing could prevent it (its own topic inside its own filter)',
  conflict: 'another rule commands the opposite at the same moment',
  never_fires: 'it cannot fire, or a condition cannot be met; refused for the sun while the location is not known',
  always_true: 'a condition that always holds',
  duplicate: 'another rule does the same upon the same',
  shadowed: 'an option of `choose` that one above it always takes',
  no_off: 'it turns something on, and no rule turns it off',
  no_finally: 'what ends the run early leaves a device as it is, where the run would have set it back',
  no_timeout: 'a wait without a `timeout` ends after an hour',
  wraps_midnight: 'a window that goes over midnight, in case it was not meant to',
  skips_months: 'a day of the month that some months do not have',
  unknown_device: 'a device that does not exist yet: the rule is `degraded` until it appears',
  unknown_command: 'refused where the device is known: it has no such command',
  unknown_variable: 'a variable that neither the rule nor the house has: the rule is `degraded`',
  unknown_mode: 'refused: the house has no such mode',
  type_mismatch: 'refused: a value, an argument or an expression of another type than the attribute or argument has',
  wait_depends_on_self: 'it waits for a device that it has just commanded',
  invariant: 'reserved',
};

/** Notes on triggers. */
export const TRIGGER_NOTES: Notes = {
  state: {
    elsewhere: {
      [SEED]: '`device_event` (`value`, `duration`, `matchMode`), `hsm_change`',
      [HA]: '`state` trigger',
      [RM]: '“… changed”, “and stays”',
      [IOB]: "`on({ id, change: 'ne' })`",
      [NR]: '*events: state*, or *mqtt in* and *filter*',
    },
    notes: [
      'What a backend tells at its start or reconnect is no change either: that is how things stand.',
      'A device that was unavailable and comes back with the same value has not changed; with another one it has, once.',
      'A hold (`for`) goes on over a restart with its due time. If it is still true it fires however late, and the trace says how late.',
      '`to` is compared with values of the declared type: `true` for an attribute of `on` and `off` is refused at save.',
    ],
  },
  reported: {
    elsewhere: {
      [HA]: '`state_reported` events',
      [IOB]: "`on({ id, change: 'any' })`; `eq`, `gt`, `ge`, `lt`, `le` with a condition",
      [NR]: 'every message of *mqtt in*',
    },
  },
  numeric: {
    elsewhere: {
      [SEED]: '`device_event` with `>` or `<`',
      [HA]: '`numeric_state` trigger, *threshold* helper',
      [RM]: '“rises above”, “falls below”',
      [IOB]: '`valGt` with `oldValLe`',
      [NR]: '*switch* after *filter*',
    },
    notes: [
      'It fires on the way in, not while it is inside: armed by a good number outside, fired by the next one inside. The first number after a start arms nothing.',
      'The bounds do not belong to the region: `above: 25` is not met by 25.',
      'With `hysteresis: 1` and `above: 25` the number must fall to 24 or less before it can fire again.',
    ],
  },
  event: {
    elsewhere: {
      [SEED]: '`button_event`',
      [HA]: '`event` and device triggers',
      [RM]: '“Button device”',
      [IOB]: 'a state of the role `button`, set anew by each press; `on({ id, ack: false })` as `command:<attribute>`',
      [NR]: '*mqtt in*',
    },
    notes: ['Two equal presses are two events. A press is never retained, and never restored after a restart.'],
  },
  command: {
    elsewhere: { [HA]: '`call_service` events', [IOB]: 'a state with `ack: false`' },
    notes: [
      'It fires when the command has passed the gate, before the device answers. `by: user` leaves out the doing of rules.',
    ],
  },
  expression: {
    elsewhere: {
      [HA]: '`template` trigger',
      [RM]: '“Required expression becomes true”',
      [IOB]: 'a script',
      [NR]: '*function*',
    },
    notes: ['So an id that is computed, `state(vars.which, …)`, is refused here.'],
  },
  time: {
    elsewhere: {
      [SEED]: '`time`',
      [HA]: '`time` trigger',
      [RM]: '“Certain time”',
      [IOB]: "`schedule('0 7 * * *', …)`",
      [NR]: '*inject* at a time',
    },
    notes: [
      'A time that the spring change leaves out happens at the first instant after the gap (`dst_gap: next`) or not at all (`skip`). One that comes twice in autumn fires the first time only.',
      'Missed while Causeway or the machine was off: made up for once if that is no longer ago than `catch_up.within` (5m).',
    ],
  },
  cron: {
    elsewhere: {
      [HA]: '`time_pattern` trigger',
      [RM]: '“Periodic schedule”',
      [IOB]: '`schedule(cron, …)`',
      [NR]: '*inject* with an interval, *cron-plus*',
    },
    notes: [
      'With hour `*` or `*/n` it goes on through both passes of an hour that comes twice; with fixed hours it fires in the first only.',
      'An expression without any date (`0 0 30 2 *`) is refused.',
    ],
  },
  interval: {
    elsewhere: {
      [SEED]: '`periodic`',
      [HA]: '`time_pattern` with `/5`',
      [RM]: '“Periodic schedule”',
      [IOB]: '`setInterval`',
      [NR]: '*inject*, repeated',
    },
    notes: [
      'It counts elapsed time from when it was armed, whatever the clock does. For “every full quarter of an hour” use `cron`.',
    ],
  },
  sun: {
    elsewhere: {
      [SEED]: '`time` with `sunrise` or `sunset`, and their aliases',
      [HA]: '`sun` trigger, `numeric_state` on the sun’s elevation',
      [RM]: '“Sunrise/sunset” with offset',
      [IOB]: '`schedule({ astro, shift }, …)`, all fourteen names',
      [NR]: '*sun-position*, *bigtimer*',
    },
    notes: [
      'Where an event does not happen (a summer without night), the day is passed over, or takes the first of `fallback` that there is. The status of the rule then says until when it is dormant.',
      'Elevation is geometric, of the sun’s centre: at sunrise it is −0.833°, not 0.',
    ],
  },
  missing: {
    elsewhere: {
      [HA]: '`state` to `unavailable`, or a template on `last_reported`',
      [NR]: '*trigger* with “extend delay”',
    },
    notes: ['Of a device that never reported, silence counts from when the rule began to listen.'],
  },
  sequence: {
    elsewhere: { [HA]: '`wait_for_trigger` after a trigger', [NR]: 'flow context' },
    notes: ['Events that fit two steps move it on by one.'],
  },
  count: {
    elsewhere: { [HA]: 'a counter helper', [NR]: '*batch*, flow context' },
  },
  mode: {
    elsewhere: {
      [SEED]: '`mode_change`',
      [HA]: '`state` of an `input_select`',
      [RM]: '“Mode”',
      [IOB]: 'a state of your own',
      [NR]: 'global context',
    },
  },
  variable: {
    elsewhere: {
      [HA]: '`state` of an `input_number` or `input_boolean`',
      [RM]: '“Variable”',
      [IOB]: '`on` of a state below `0_userdata`',
      [NR]: 'global context',
    },
  },
  availability: {
    elsewhere: { [HA]: '`state` to `unavailable`', [IOB]: '`info.connection` of an adapter', [NR]: '*status*' },
  },
  flow: {
    elsewhere: { [NR]: 'a UniFi node and *function*' },
    notes: [
      'With `per` there is a window for each value of that field, and `trigger.key` says which one was full.',
      'A trigger has a thousand windows at most; one more gives up the one that would be over first, and an event of the rule says so. A sum tells apart what lies a 250th of `within` apart.',
    ],
  },
  mqtt: {
    elsewhere: { [HA]: '`mqtt` trigger', [IOB]: 'states of the *mqtt* adapter', [NR]: '*mqtt in*' },
    notes: [
      '`is` fires on every message of that value, `to` on the change to it.',
      'A filter with wildcards compares each topic with its own last message.',
    ],
  },
  webhook: {
    elsewhere: { [HA]: '`webhook` trigger', [RM]: '“Local end point”', [NR]: '*http in*' },
    notes: ['It wants a credential once there are users. The body is `trigger.body`, the query `trigger.query`.'],
  },
  startup: {
    elsewhere: {
      [HA]: '`homeassistant` trigger',
      [RM]: '“System start”',
      [IOB]: 'the body of a script',
      [NR]: '*inject* once',
    },
  },
  rule: {
    elsewhere: { [HA]: '`automation_triggered` events', [NR]: '*complete*, *catch*' },
  },
};

/** Notes on conditions. */
export const CONDITION_NOTES: Notes = {
  state: {
    elsewhere: {
      [SEED]: '`device_state`, `device_was`, `presence`, `lock`, `thermostat_mode`, `thermostat_state`, `hsm_status`',
      [HA]: '`state` condition',
      [RM]: 'an attribute in a condition',
      [IOB]: '`getState(id).val`',
      [NR]: '*current state*, *switch*',
    },
  },
  numeric: {
    elsewhere: {
      [SEED]: '`device_state` with an operator, `illuminance`, `power`',
      [HA]: '`numeric_state` condition',
      [RM]: 'a comparison',
      [IOB]: '`getState(id).val > 5`',
      [NR]: '*switch*',
    },
  },
  time: {
    elsewhere: {
      [SEED]: '`time_range`, `days_of_week`',
      [HA]: '`time` condition',
      [RM]: '“Time of day”, “Days of week”',
      [IOB]: '`compareTime`',
      [NR]: '*time-range*, *switch*',
    },
    notes: [
      'From `after` up to, but not including, `before`. Equal bounds mean always; `24:00` is midnight at the end of the day.',
      'In a window over midnight `weekdays` are those on which it began: Friday 22:00–06:00 holds on Saturday at three. `weekday_of: now` asks the calendar instead.',
      'It holds between sunset and sunrise as written: `after: sunset`, `before: sunrise`.',
    ],
  },
  sun: {
    elsewhere: {
      [SEED]: '`sun_position`',
      [HA]: '`sun` condition',
      [RM]: '“Between sunset and sunrise”',
      [IOB]: '`isAstroDay()`',
      [NR]: '*within-time*',
    },
  },
  expression: {
    elsewhere: { [HA]: '`template` condition', [RM]: '“Required expression”', [IOB]: 'a script', [NR]: '*function*' },
  },
  mode: {
    elsewhere: { [SEED]: '`mode`', [HA]: '`state` of an `input_select`', [RM]: '“Mode”', [NR]: 'global context' },
  },
  variable: {
    elsewhere: {
      [SEED]: '`variable`',
      [HA]: '`state` of a helper',
      [RM]: '“Variable”',
      [IOB]: '`getState` below `0_userdata`',
      [NR]: 'context',
    },
    notes: ['A number is equal to a number: 20 is 20.0. Text that looks like a number is still text.'],
  },
  trigger: { elsewhere: { [HA]: '`trigger` condition', [IOB]: '`obj.id`', [NR]: '*switch* on `msg.topic`' } },
  availability: { elsewhere: { [HA]: '`state` is not `unavailable`', [IOB]: '`info.connection`' } },
  mqtt: { elsewhere: { [HA]: '`state` of an MQTT sensor', [IOB]: '`getState` of the *mqtt* adapter' } },
  and: { elsewhere: { [SEED]: '`conditionLogic: all`', [HA]: '`and`', [RM]: 'AND' } },
  or: { elsewhere: { [SEED]: '`conditionLogic: any`', [HA]: '`or`', [RM]: 'OR' } },
  not: { elsewhere: { [HA]: '`not`', [RM]: 'NOT' } },
};

/** Notes on actions. */
export const ACTION_NOTES: Notes = {
  command: {
    elsewhere: {
      [SEED]:
        '`device_command`, `toggle_device`, `set_level`, `set_color`, `set_color_temperature`, `lock`, `unlock`, `activate_scene`, `set_hsm`, `speak`, `set_thermostat`, `set_valve`, `set_fan_speed`, `set_shade`',
      [HA]: 'an action such as `light.turn_on`',
      [RM]: '“Set …”, “Run custom action”',
      [IOB]: '`setState`',
      [NR]: '*action*, *mqtt out*',
    },
    notes: [
      'The step ends with the answer of the device’s system, not with the device’s own report. To wait for that, put a `wait_for` after it.',
      'A command that would change nothing is left out (outcome `unchanged`): all it would set is known, good, told since the system was last ready, and equal. Locks, covers and alarms are always sent, and so is anything with `force: true`.',
      'To several devices it is one step with an outcome each; it fails if one of them fails.',
      'After a crash an idempotent command is sent again. One that is not (toggle, push) ends `in_doubt` and is never repeated by itself.',
    ],
  },
  set_variable: {
    elsewhere: {
      [SEED]: '`set_variable`, `set_local_variable`, `variable_math`',
      [HA]: '`variables`, `input_number.set_value`',
      [RM]: '“Set variable”',
      [IOB]: '`setState` below `0_userdata`',
      [NR]: '*change*',
    },
    notes: [
      '`add` and `append` read and write in one go: two rules at once lose nothing. For other sums use `value: { expr: "vars.x * 2" }`.',
    ],
  },
  set_mode: { elsewhere: { [SEED]: '`set_mode`', [HA]: '`input_select.select_option`', [RM]: '“Set mode”' } },
  scene: {
    elsewhere: {
      [SEED]: '`capture_state`, `restore_state`',
      [HA]: '`scene.create`, `scene.turn_on`',
      [RM]: '“Capture”, “Restore”',
    },
    notes: ['What was captured is kept over restarts, under a name for the whole house.'],
  },
  notify: {
    elsewhere: {
      [SEED]: '`send_notification`',
      [HA]: '`notify.*`',
      [RM]: '“Send message”',
      [IOB]: '`sendTo`',
      [NR]: 'a node of the service',
    },
    notes: [
      'With `ask` and `as` the run waits, and `answer` is null when the time is over. Without `as` it goes on, and each answer is an event of `house:notify`, `answered`.',
    ],
  },
  publish: { elsewhere: { [HA]: '`mqtt.publish`', [IOB]: '`sendTo` of the *mqtt* adapter', [NR]: '*mqtt out*' } },
  http: {
    elsewhere: {
      [SEED]: '`http_request`',
      [HA]: '`rest_command`',
      [RM]: '“Send HTTP request”',
      [IOB]: '`httpGet`',
      [NR]: '*http request*',
    },
    notes: ['Only where `security.egress.allow` lets it. A POST whose fate a crash left open ends `in_doubt`.'],
  },
  delay: {
    elsewhere: {
      [SEED]: '`delay`',
      [HA]: '`delay`',
      [RM]: '“Delay”',
      [IOB]: '`setTimeout`, `setStateDelayed`',
      [NR]: '*delay*',
    },
    notes: [
      'It may stand anywhere, in branches and repeats too, goes on over a restart, and may be longer than 24 days.',
    ],
  },
  wait_for: {
    elsewhere: {
      [HA]: '`wait_template`, `wait_for_trigger`',
      [RM]: '“Wait for events”, “Wait for expression”',
      [NR]: '*wait-until*, *trigger*',
    },
    notes: [
      'Without `timeout` it waits an hour, and the check of the rule says so.',
      'Put what provokes the answer into `do`: the wait listens before it is sent.',
      'After a restart a condition is looked at again, and being true it beats a timeout that passed meanwhile. A trigger that fired while Causeway was off was not seen.',
    ],
  },
  if: {
    elsewhere: { [SEED]: '`if_then_else`', [HA]: '`if`', [RM]: 'IF … THEN … ELSE', [IOB]: '`if`', [NR]: '*switch*' },
  },
  choose: { elsewhere: { [HA]: '`choose`', [RM]: 'ELSE-IF', [IOB]: '`switch`', [NR]: '*switch*' } },
  repeat: {
    elsewhere: { [SEED]: '`repeat`', [HA]: '`repeat`', [RM]: '“Repeat actions”', [IOB]: 'a loop', [NR]: 'a wire back' },
    notes: ['A repeat that never ends runs into `limits.steps` (1000), which ends the run as `budget_exceeded`.'],
  },
  parallel: {
    elsewhere: { [HA]: '`parallel`', [NR]: 'several wires' },
    notes: ['If one branch fails and nobody takes the error, the others end too.'],
  },
  sequence: { elsewhere: { [HA]: '`sequence`', [NR]: 'a group' } },
  call_rule: {
    elsewhere: {
      [HA]: '`automation.trigger`, `script.turn_on`',
      [RM]: '“Run rule actions”',
      [IOB]: '`runScript`',
      [NR]: '*link call*',
    },
  },
  control_rule: {
    elsewhere: { [HA]: '`automation.turn_off`', [RM]: '“Pause/resume rules”', [IOB]: '`stopScript`', [NR]: '*gate*' },
  },
  cancel: {
    elsewhere: {
      [SEED]: '`cancel_delayed`',
      [HA]: 'mode `restart`',
      [RM]: '“Cancel delayed actions”',
      [IOB]: '`clearTimeout`',
      [NR]: '`msg.reset`',
    },
    notes: ['It ends what waits now. It leaves no mark that would end a later delay.'],
  },
  stop: { elsewhere: { [SEED]: '`stop`', [HA]: '`stop`', [RM]: '“Exit rule”', [IOB]: '`return`', [NR]: 'no wire' } },
  log: {
    elsewhere: {
      [SEED]: '`log`, `comment` (a YAML comment here)',
      [HA]: '`system_log.write`',
      [RM]: '“Log”',
      [IOB]: '`log`',
      [NR]: '*debug*',
    },
  },
};

/** A rule of the Hubitat MCP server's own engine: what it calls a thing, and what it is here. */
export interface Counterpart {
  readonly there: string;
  readonly here: string;
}

/** Its 6 triggers, 14 conditions and 29 actions. */
export const SEED_COUNTERPARTS: Readonly<Record<'triggers' | 'conditions' | 'actions', readonly Counterpart[]>> = {
  triggers: [
    {
      there: 'device_event',
      here: '`state` (`value` → `to`, `duration` → `for`, `matchMode` → `match`); with `>` or `<`: `numeric`',
    },
    { there: 'button_event', here: '`event` with `name`, and `value` for the button’s number' },
    { there: 'time', here: '`time`; with `sunrise` or `sunset` (also as aliases): `sun` with `event`, `offset`' },
    { there: 'periodic', here: '`interval` for elapsed time, `cron` for the clock’s' },
    { there: 'mode_change', here: '`mode`' },
    { there: 'hsm_change', here: '`state` of the hub’s location device, attribute `hsmStatus`' },
  ],
  conditions: [
    { there: 'device_state', here: '`state`; with `>`, `<`: `numeric`' },
    { there: 'device_was', here: '`state` with `for`' },
    { there: 'time_range', here: '`time` with `after`, `before`; bounds may be sun events' },
    { there: 'mode', here: '`mode`' },
    { there: 'variable', here: '`variable`' },
    { there: 'days_of_week', here: '`time` with `weekdays`' },
    { there: 'sun_position', here: '`sun` with `is: up` or `down`' },
    { there: 'hsm_status', here: '`state` of the hub’s location device, attribute `hsmStatus`' },
    { there: 'presence', here: '`state` of `presence`' },
    { there: 'lock', here: '`state` of `lock`' },
    { there: 'thermostat_mode', here: '`state` of `thermostatMode`' },
    { there: 'thermostat_state', here: '`state` of `thermostatOperatingState`' },
    { there: 'illuminance', here: '`numeric` of `illuminance`' },
    { there: 'power', here: '`numeric` of `power`' },
  ],
  actions: [
    { there: 'device_command', here: '`command`' },
    { there: 'toggle_device', here: '`command` `toggle`; better `if` with `on` and `off`, which survive a crash' },
    { there: 'set_level', here: '`command` `setLevel` with `level`, `duration`' },
    { there: 'set_color', here: '`command` `setColor`' },
    { there: 'set_color_temperature', here: '`command` `setColorTemperature`' },
    { there: 'lock', here: '`command` `lock`' },
    { there: 'unlock', here: '`command` `unlock`' },
    {
      there: 'activate_scene',
      here: '`command` `on` of the scene’s device; scenes of house.yaml: `scene` with `apply`',
    },
    { there: 'set_mode', here: '`set_mode`' },
    { there: 'set_hsm', here: '`command` `setHsm` of the hub’s location device' },
    { there: 'set_variable', here: '`set_variable` of a variable of the house' },
    { there: 'set_local_variable', here: '`set_variable` of a variable of the rule' },
    { there: 'variable_math', here: '`set_variable` with `add`, or `value: { expr }`' },
    {
      there: 'send_notification',
      here: '`notify`; to a device: a notifier of type `device`, or `command` `deviceNotification`',
    },
    { there: 'speak', here: '`command` `speak` with `text`, `volume`' },
    { there: 'log', here: '`log`' },
    { there: 'comment', here: '`log` with `level: debug`, or a comment in the file, which edits keep' },
    { there: 'delay', here: '`delay`, with `name` in the place of `delayId`' },
    { there: 'cancel_delayed', here: '`cancel` with `name` or `all`' },
    { there: 'stop', here: '`stop`' },
    { there: 'if_then_else', here: '`if`' },
    { there: 'repeat', here: '`repeat` with `count`' },
    { there: 'capture_state', here: '`scene` with `capture`' },
    { there: 'restore_state', here: '`scene` with `restore`' },
    {
      there: 'set_thermostat',
      here: '`command` `setThermostatMode`, `setHeatingSetpoint`, `setCoolingSetpoint`, `setThermostatFanMode`',
    },
    { there: 'http_request', here: '`http`' },
    { there: 'set_valve', here: '`command` `open` or `close`' },
    { there: 'set_fan_speed', here: '`command` `setSpeed`' },
    { there: 'set_shade', here: '`command` `open`, `close` or `setPosition`' },
  ],
};
