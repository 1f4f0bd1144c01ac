import { evaluate as celEvaluate } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CausewayError } from '../../../src/lib/errors.ts';
import {
  compileExpression,
  compileTemplate,
  type ExpressionOptions,
  expressionFunctions,
  hasTemplate,
  isFreeName,
  type Scope,
} from '../../../src/lib/expression.ts';

const NOW = Date.parse('2026-07-05T18:05:00Z');

const STATES: Record<string, unknown> = { 'a/temperature': 21.5, 'a/switch': 'on', 'a/door': null };

function scope(more: Partial<Scope> & { variables?: Record<string, unknown> } = {}): Scope {
  const { variables = {}, ...rest } = more;
  return {
    vars: name => (Object.hasOwn(variables, name) ? variables[name] : undefined),
    mode: 'home',
    now: NOW,
    timezone: 'Europe/Berlin',
    state: (device, attribute) => STATES[`${device}/${attribute}`] ?? null,
    attr: (device, attribute) =>
      STATES[`${device}/${attribute}`] === undefined
        ? null
        : {
            value: STATES[`${device}/${attribute}`],
            quality: 'good',
            lastChanged: NOW - 600_000,
            lastReported: NOW - 1000,
          },
    ...rest,
  };
}

/** The value of an expression; its error, where it has none. */
function value(source: string, seen: Parameters<typeof scope>[0] = {}, options: ExpressionOptions = {}): unknown {
  const result = compileExpression(source, options).evaluate(scope(seen));
  return result.ok ? result.value : new Error(result.error);
}

/** Why the expression cannot be evaluated. */
function unknown(source: string, seen: Parameters<typeof scope>[0] = {}, options: ExpressionOptions = {}): string {
  const result = compileExpression(source, options).evaluate(scope(seen));
  if (result.ok) throw new Error(`${source} has the value ${JSON.stringify(result.value)}`);
  return result.error;
}

/** The error with which the expression is refused. */
function refused(source: string, options: ExpressionOptions = {}): CausewayError {
  try {
    compileExpression(source, options);
  } catch (thrown) {
    const error = thrown as CausewayError;
    expect(error.code).toBe('EXPRESSION_INVALID');
    return error;
  }
  throw new Error(`${source} was accepted`);
}

describe('an expression', () => {
  it('reads states, null when unknown', () => {
    expect(value('state("a", "temperature") > 20 && state("a", "switch") == "on"')).toBe(true);
    expect(value('state("a", "door") == null')).toBe(true);
    expect(value('state("nobody", "door")')).toBe(null);
  });

  it('reads what is known about an attribute', () => {
    expect(value('attr("a", "temperature").value + 1')).toBe(22.5);
    expect(value('attr("a", "temperature").quality')).toBe('good');
    expect(value('now - attr("a", "temperature").lastChanged > duration("5m")')).toBe(true);
    expect(value('now - attr("a", "temperature").lastReported > duration("5m")')).toBe(false);
    expect(value('attr("nobody", "door") == null')).toBe(true);
  });

  it('reads variables, arguments, the mode, the sun, and what repeat and `as` bring', () => {
    const seen = {
      variables: { n: 4 },
      args: { x: [1, { y: 'deep' }] },
      sun: { elevation: -3.5, azimuth: 290, up: false },
      repeat: { index: 3, item: 'kitchen' },
      bindings: { answer: { outcome: 'ok', ms: 12 } },
    };
    expect(value('vars.n * 2', seen)).toBe(8);
    expect(value('vars["n"] * 2', seen)).toBe(8);
    expect(value('args.x[1].y', seen)).toBe('deep');
    expect(value('mode == "home" ? "in" : "out"', seen)).toBe('in');
    expect(value('!sun.up && sun.elevation < -3', seen)).toBe(true);
    expect(value('repeat.item + string(repeat.index)', seen)).toBe('kitchen3');
    expect(value('answer.outcome == "ok" && answer.ms < 20', seen, { bindings: ['answer'] })).toBe(true);
  });

  it('reads the trigger, whose moment is a timestamp', () => {
    const trigger = { id: 't1', type: 'mqtt', at: NOW - 60_000, topic: 'home/kitchen/lamp', payload: { on: [true] } };
    expect(value('trigger.topic.split("/")[1]', { trigger })).toBe('kitchen');
    expect(value('trigger.payload.on[0]', { trigger })).toBe(true);
    expect(value('now - trigger.at == duration("1m")', { trigger })).toBe(true);
    expect(value('has(trigger.device)', { trigger })).toBe(false);
    expect(value('has(trigger.payload)')).toBe(false);
  });

  it('mixes int and double', () => {
    const seen = { variables: { n: 7 }, repeat: { index: 3 } };
    expect(value('vars.n + 1', seen)).toBe(8);
    expect(value('1.5 + 1', seen)).toBe(2.5);
    expect(value('vars.n / 2', seen)).toBe(3.5);
    expect(value('vars.n % 2', seen)).toBe(1);
    expect(value('7.5 % 2', seen)).toBe(1.5);
    expect(value('repeat.index == 3 && 3 == repeat.index && round(2.6) == 3', seen)).toBe(true);
    expect(value('vars.n in [1, 7] && 7 in [7.0] && 7.0 in [7]', seen)).toBe(true);
    expect(value('vars.n > 3 ? 1 : 0.5', seen)).toBe(1);
  });

  it('divides two ints towards zero, as CEL does', () => {
    expect(value('7 / 2')).toBe(3);
    expect(value('-7 / 2')).toBe(-3);
    expect(value('size("abc") / 2')).toBe(1);
    expect(value('7 / 2.0')).toBe(3.5);
  });

  it('does without a side of || and && that has no value when the other one decides', () => {
    expect(value('state("a", "door") > 5 || mode == "home"')).toBe(true);
    expect(value('mode == "away" && state("a", "door") > 5')).toBe(false);
    expect(unknown('state("a", "door") > 5 || mode == "away"')).toContain('null > number');
  });

  it('runs over lists and the keys of maps', () => {
    const seen = { variables: { xs: [1, 2, 3], m: { a: 1, b: 2 } } };
    expect(value('vars.xs.exists(x, x > 2) && vars.xs.all(x, x > 0) && vars.xs.exists_one(x, x == 2)', seen)).toBe(
      true,
    );
    expect(value('vars.xs.filter(x, x > 1).map(y, y * 10)', seen)).toEqual([20, 30]);
    expect(value('vars.xs.map(x, x > 1, x * 10)', seen)).toEqual([20, 30]);
    expect(value('vars.m.map(k, k)', seen)).toEqual(['a', 'b']);
    expect(value('["a", "b"].exists(d, state(d, "temperature") > 20)', seen)).toBe(true);
    expect(value('[0, 1].exists(x, 1 / x > 0)', seen)).toBe(true);
    expect(unknown('[0, 1].all(x, 1 / x > 0)', seen)).toContain('division by zero, in 1 / x');
  });

  it('joins and takes apart texts', () => {
    expect(value('"a" + "b"')).toBe('ab');
    expect(value('"Living room".contains("room") && "abc".startsWith("a") && "abc".endsWith("c")')).toBe(true);
    expect(value('"a,b,c".split(",").join("-")')).toBe('a-b-c');
    expect(value('"a,b,c".split(",", 2)')).toEqual(['a', 'b,c']);
    expect(value('" Ab ".trim().lowerAscii() + "x".upperAscii()')).toBe('abX');
    expect(value('"abcdef".substring(1, 3) + "abcdef".substring(4)')).toBe('bcef');
    expect(value('"abc".indexOf("c")')).toBe(2);
    expect(value('size("a😀") + "ä".size() + size([1, 2]) + size({"k": 1})')).toBe(6);
  });

  it('converts between types', () => {
    expect(value('num("21.5", 0) + num("off", 3) + num(null, 1)')).toBe(25.5);
    expect(unknown('num("off")')).toContain('the text is no number');
    expect(value('int("12") + int(3.9) + int(-3.9)')).toBe(12);
    expect(value('double("1e3")')).toBe(1000);
    expect(value('string(21.0) + string(true) + string(duration("90s"))')).toBe('21true1m30s');
    expect(value('bool("true")')).toBe(true);
  });

  it('rounds as people do', () => {
    expect([value('round(2.5)'), value('round(-2.5)'), value('round(1.005, 2)'), value('round(1234, -2)')]).toEqual([
      3, -3, 1.01, 1200,
    ]);
    expect([value('floor(-1.5)'), value('ceil(1.2)'), value('abs(-3)')]).toEqual([-2, 2, 3]);
    expect([value('min(1, 2.5)'), value('max([1, 4, 2])')]).toEqual([1, 4]);
    expect(value('round(1e300, 15)')).toBe(1e300);
  });

  it('counts durations and timestamps', () => {
    expect(value('duration("PT5M") == duration("00:05:00") && duration("1d2h") > duration("25h")')).toBe(true);
    expect(value('now + duration("1h")')).toBe('2026-07-05T19:05:00.000Z');
    expect(value('(now - timestamp("2026-07-05T20:00:00+02:00")).getMinutes()')).toBe(5);
    expect(value('timestamp(0) < now')).toBe(true);
    expect(unknown('timestamp("2026-02-30T00:00:00Z")')).toContain('no instant');
    expect(unknown('timestamp("2026-02-03T00:00:00.000")')).toContain('no instant');
    expect(unknown('duration("soon")')).toContain('no duration');
  });

  it('tells the time in the zone of the rule, whatever the zone of the process', () => {
    expect(value('hour(now)')).toBe(20);
    expect(value('hour(now)', { timezone: 'America/New_York' })).toBe(14);
    expect(value('minute(now)')).toBe(5);
    expect(value('weekday(now)')).toBe('sun');
    expect(value('date(now) + " " + time(now)')).toBe('2026-07-05 20:05');
    expect(value('now.getHours("Asia/Tokyo")')).toBe(3);
    expect(value('now.getDayOfWeek("UTC")')).toBe(0);
    expect(unknown('now.getHours("Middle/Earth")')).toContain('no time zone');
    expect(refused('now.getHours() > 5').hint).toContain('hour(now)');
  });

  it('compares texts with wildcards', () => {
    expect(value('like("kitchen/lamp", "kitchen/*")')).toBe(true);
    expect(value('like("kitchen/lamp", "*l?mp")')).toBe(true);
    expect(value('like("kitchen/lamp", "lamp")')).toBe(false);
    expect(value('like("a.c", "a.c") && !like("abc", "a.c")')).toBe(true);
    expect(value('like("", "*") && !like("", "?")')).toBe(true);
  });

  it('may be shared: one evaluation leaves nothing for the next', () => {
    const shared = compileExpression('[1, 2].map(x, x + vars.n)');
    expect(shared.evaluate(scope({ variables: { n: 1 } }))).toEqual({ ok: true, value: [2, 3] });
    expect(shared.evaluate(scope())).toMatchObject({ ok: false });
    expect(shared.evaluate(scope({ variables: { n: 5 } }))).toEqual({ ok: true, value: [6, 7] });
  });

  it('reads only what it names', () => {
    const barred = new Proxy(scope(), {
      get: (target, key) => {
        if (key !== 'mode') throw new Error(`read ${String(key)}`);
        return target.mode;
      },
    });
    expect(compileExpression('mode == "home"').evaluate(barred)).toEqual({ ok: true, value: true });
  });
});

describe('an expression without a value', () => {
  it('says why and where', () => {
    expect(unknown('state("a", "door") > 5')).toBe('null > number has no meaning, in state("a", "door") > 5');
    expect(unknown('args.x > 1')).toBe('it has no value, in args.x');
    expect(unknown('vars.n + 1')).toBe('it has no value, in vars.n');
    expect(unknown('answer.ms', {}, { bindings: ['answer'] })).toContain('nothing is bound as "answer" yet');
    expect(unknown('vars.xs[5]', { variables: { xs: [1] } })).toContain('no element 5: the list has 1');
    expect(unknown('state("a", "temperature") + " °C"')).toContain('write string(x)');
  });

  it('has none where a dynamic type does not fit', () => {
    const variables = { six: '6', yes: 1 };
    expect(unknown('vars.six > 5', { variables })).toContain('string > number');
    expect(unknown('vars.yes && true', { variables })).toContain('a bool is wanted');
    expect(unknown('vars.yes', { variables }, { expect: 'bool' })).toContain('a bool is wanted');
    expect(value('vars.six == 6', { variables })).toBe(false);
  });

  it('has none where a number would be infinite or none', () => {
    expect(unknown('1 / 0')).toContain('division by zero');
    expect(unknown('1.0 / 0.0 > 5.0')).toContain('division by zero');
    expect(unknown('5 % 0')).toContain('division by zero');
    expect(unknown('1e308 * 10')).toContain('no finite number');
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(unknown('vars.n > 5 - vars.n', { variables: { n } })).toContain('no finite number');
      expect(unknown('vars.n', { variables: { n } })).toContain('no finite number');
    }
    expect(unknown('vars.n < 5', { variables: { n: Number.NaN } })).toContain('no finite number');
  });

  it('has none when the scope itself fails, and does not throw', () => {
    const broken = scope({
      state: () => {
        throw new Error('the store is gone');
      },
    });
    expect(compileExpression('state("a", "b") == 1 || true').evaluate(broken)).toEqual({
      ok: false,
      error: 'the store is gone, in state("a", "b")',
    });
  });
});

describe('an expression is refused at save', () => {
  it('with line, column and a caret under the fault', () => {
    const error = refused('mode == "home" &&\n  trigger.valu > 5');
    expect(error.details).toEqual({ line: 2, column: 11 });
    expect(error.message).toContain('trigger has no "valu" (line 2, column 11)\n    trigger.valu > 5\n            ^');
    expect(error.hint).toBe('did you mean "value"?');
  });

  it('when a name is unknown, with the nearest one', () => {
    expect(refused('triger.value == 1').hint).toContain('"trigger"');
    expect(refused('attr("a", "b").lastchanged == now').hint).toContain('"lastChanged"');
    expect(refused('sun.elevaton > 1.0').hint).toContain('"elevation"');
    expect(refused('True').hint).toContain('"true"');
    expect(refused('stat("a", "b")').hint).toContain('"state"');
    expect(refused('mode.startWith("h")').hint).toContain('"startsWith"');
    expect(refused('contains("a", "b")').hint).toContain('text.contains(part)');
    expect(refused('answr.ms', { bindings: ['answer'] }).hint).toContain('"answer"');
    expect(refused('vars').hint).toContain('vars.count');
  });

  it('when a name is not available there', () => {
    expect(refused('vars.x == 1', { allow: ['mode'] }).message).toContain('"vars" is not available here');
    expect(refused('trigger.id', { allow: ['mode', 'vars'] }).message).toContain('not available');
  });

  it('when types do not go together', () => {
    expect(refused('"6" > 5').message).toContain('string > int');
    expect(refused('"a" + 5').hint).toContain('string(6)');
    expect(refused('mode == 5').message).toContain('string == int');
    expect(refused('now - 5').message).toContain('timestamp - int');
    expect(refused('1 && true').message).toContain('bool');
    expect(refused('mode == "home" ? "a" : 1').hint).toContain('dyn(');
    expect(refused('state("a")').hint).toContain('state(id, attribute)');
    expect(refused('duration(5)').hint).toContain('duration("5m")');
    expect(refused('has(mode)').hint).toContain('has(args.level)');
  });

  it('when its result cannot be what is wanted', () => {
    expect(refused('vars.n + 1 > 2 ? 5 : 6', { expect: 'bool' }).message).toContain(
      'a bool is wanted here, this is int',
    );
    expect(refused('"on"', { expect: 'number' }).message).toContain('a number is wanted');
    expect(refused('5', { expect: 'duration' }).message).toContain('a duration is wanted');
    expect(refused('now', { expect: 'string' }).message).toContain('this is timestamp');
    expect(compileExpression('vars.n', { expect: 'bool' }).type).toBe('dyn');
  });

  it('when it is no CEL, with what to write instead', () => {
    expect(refused('mode = "home"').hint).toContain('==');
    expect(refused('true and false').hint).toContain('&&');
    expect(refused('true or false').hint).toContain('||');
    expect(refused('1 +').message).toContain('ends too early');
    expect(refused('size([1, 2)').message).toContain('"]" is expected here, not ")"');
    expect(refused('true ? 1').message).toContain('":" is expected here');
    expect(refused('"open').details).toEqual({ line: 1, column: 1 });
    for (const empty of ['', '   ', '// nothing']) expect(refused(empty).message).toMatch(/empty|too early/);
  });
});

describe('the names of an expression', () => {
  const names = (source: string) => compileExpression(source, { bindings: ['answer'] }).names;

  it('are those it reads by a literal, each once', () => {
    expect(
      names('state("a", "b") == "on" && attr("a", "b").quality == "good" && state("c", "d") > vars.n + vars["m"]'),
    ).toEqual({
      states: [
        { device: 'a', attribute: 'b' },
        { device: 'c', attribute: 'd' },
      ],
      variables: ['n', 'm'],
      mode: false,
      now: false,
      sun: false,
      dynamic: false,
    });
  });

  it('tell whether mode, clock or sun matter', () => {
    expect(names('mode == "home"')).toMatchObject({ mode: true, now: false, sun: false });
    expect(names('hour(now) > 5 || sun.up')).toMatchObject({ mode: false, now: true, sun: true });
    expect(names('"now" == "mode"')).toMatchObject({ mode: false, now: false });
    expect(names('has(vars.n) ? {"mode": 1} : {"sun": 2}')).toMatchObject({
      variables: ['n'],
      mode: false,
      sun: false,
    });
  });

  it('are found wherever they stand, and may be computed', () => {
    expect(names('[1].map(x, {"k": [-num(state("a", "b"), 0), x]})').states).toEqual([{ device: 'a', attribute: 'b' }]);
    expect(names('state(trigger.device, "b")').dynamic).toBe(true);
    expect(names('["a"].exists(d, state(d, "b") == 1)').dynamic).toBe(true);
    expect(names('state("a" + "b", "c")').dynamic).toBe(true);
    expect(names('vars[trigger.key]').dynamic).toBe(true);
    expect(names('args.state')).toMatchObject({ states: [], dynamic: false });
  });
});

describe('the result of an expression', () => {
  it('is JSON: timestamps are ISO text, durations their stored form', () => {
    expect(value('{"at": now, "for": duration("90s"), "list": [1, 2.5, null, true], "n": size("abc")}')).toEqual({
      at: '2026-07-05T18:05:00.000Z',
      for: '1m30s',
      list: [1, 2.5, null, true],
      n: 3,
    });
    expect(value('trigger', { trigger: { id: 't', type: 'time', at: NOW } })).toEqual({
      id: 't',
      type: 'time',
      at: '2026-07-05T18:05:00.000Z',
    });
  });

  it('is a copy of what was read', () => {
    const list = [{ n: 1 }];
    const copy = value('vars.list', { variables: { list } }) as typeof list;
    expect(copy).toEqual(list);
    expect(copy[0]).not.toBe(list[0]);
  });

  it('is milliseconds where a duration is wanted', () => {
    const ms = (source: string, variables = {}) => value(source, { variables }, { expect: 'duration' });
    expect(ms('duration("5m") + duration("1s")')).toBe(301_000);
    expect(ms('"PT5M"')).toBe(300_000);
    expect(ms('vars.wait', { wait: '1h' })).toBe(3_600_000);
    expect(unknown('vars.wait', { variables: { wait: 30 } }, { expect: 'duration' })).toContain('a number has no unit');
    expect(unknown('vars.wait', { variables: { wait: 'soon' } }, { expect: 'duration' })).toContain('"soon"');
  });

  it('has a static type where it can be told', () => {
    const type = (source: string) => compileExpression(source).type;
    expect([type('1'), type('1.5'), type('"a"'), type('true'), type('null')]).toEqual([
      'int',
      'double',
      'string',
      'bool',
      'null',
    ]);
    expect([type('now'), type('now - now'), type('[1]'), type('{"a": 1}'), type('attr("a", "b")')]).toEqual([
      'timestamp',
      'duration',
      'list',
      'map',
      'map',
    ]);
    expect(type('state("a", "b")')).toBe('dyn');
  });
});

describe('a template', () => {
  const text = (source: string, seen: Parameters<typeof scope>[0] = {}) =>
    compileTemplate(source).evaluate(scope(seen));

  it('puts values into text', () => {
    const variables = { n: 4, whole: 21.0, sum: 0.1 + 0.2, none: null, list: [1, 'a', null], m: { a: { b: 1 } } };
    expect(text('{{ state("a", "temperature") }} °C in {{ vars.n }} rooms', { variables })).toEqual({
      ok: true,
      text: '21.5 °C in 4 rooms',
    });
    expect(
      text('{{ vars.whole }}|{{ vars.sum }}|{{ vars.none }}|{{ vars.list }}|{{ vars.m }}|{{ true }}', { variables }),
    ).toEqual({
      ok: true,
      text: '21|0.3||[1,"a",null]|{"a":{"b":1}}|true',
    });
    expect(text('{{ now }} {{ duration("300s") }}')).toEqual({ ok: true, text: '2026-07-05T18:05:00.000Z 5m' });
  });

  it('knows where an expression ends', () => {
    expect(text('{{ "}}" }} {{ \'}}\' }} {{ {"a": {"b": "\\"}}"}} }} }} {{"{{"}}')).toEqual({
      ok: true,
      text: '}} }} {"a":{"b":"\\"}}"}} }} {{',
    });
  });

  it('without an expression is that text', () => {
    expect(hasTemplate('plain { text }')).toBe(false);
    expect(hasTemplate('a {{ b }}')).toBe(true);
    expect(text('plain { text }')).toEqual({ ok: true, text: 'plain { text }' });
  });

  it('has no text when an expression has no value', () => {
    expect(text('it is {{ args.x }}')).toEqual({ ok: false, error: 'it has no value, in args.x' });
  });

  it('gathers the names and gives its parts', () => {
    const template = compileTemplate('{{ state("a", "b") }} {{ vars.n }} {{ state("a", "b") }} {{ hour(now) }}');
    expect(template.names).toEqual({
      states: [{ device: 'a', attribute: 'b' }],
      variables: ['n'],
      mode: false,
      now: true,
      sun: false,
      dynamic: false,
    });
    expect(compileTemplate('{{ 1 + 1 }}').parts).toHaveLength(1);
  });

  it('is refused with the place in the whole text', () => {
    const fault = (source: string): CausewayError => {
      try {
        compileTemplate(source);
      } catch (thrown) {
        return thrown as CausewayError;
      }
      throw new Error('accepted');
    };
    expect(fault('first\nnext {{ vars.n }} {{ trigr.id }}').details).toEqual({ line: 2, column: 22 });
    expect(fault('a {{ b').message).toContain('not closed (line 1, column 3)');
    expect(fault('a {{}} b').message).toContain('empty');
    expect(fault('{{ 1 }}'.repeat(51)).message).toContain('more than 50');
    expect(fault('x'.repeat(70_000)).message).toContain('longer than');
  });
});

describe('a hostile expression', () => {
  const big = Array.from({ length: 1_000_000 }, (_, i) => i);
  const thousand = big.slice(0, 1000);

  it('cannot be larger than its bounds', () => {
    expect(refused(`${'1 + '.repeat(150)}1`).message).toContain('more than 200 parts');
    expect(refused(`${'('.repeat(30)}1${')'.repeat(30)}`).message).toContain('nested deeper than 20');
    expect(refused(`[${'1,'.repeat(51)}]`).message).toContain('more than 50 elements');
    expect(refused('max(1,2,3,4,5,6,7,8,9)').message).toContain('more than 8 arguments');
    expect(refused('1'.repeat(4097)).message).toContain('longer than 4096');
    for (const sign of ['!', '-', '(', '[', '{', 'a.', 'a(', 'a?', '"', '\\']) refused(sign.repeat(4096 / sign.length));
  });

  it('cannot nest macros', () => {
    const nested = 'vars.xs.all(x, vars.xs.all(y, vars.xs.all(z, x + y + z > 0)))';
    expect(refused(nested).message).toContain('inside another');
    expect(refused('[1].map(x, [2].filter(y, y > x).size())').message).toContain('inside another');
  });

  it('cannot run over, or make, long lists', () => {
    const variables = { big, thousand };
    for (const source of [
      'vars.big.exists(x, x < 0)',
      'vars.big.map(x, x)',
      'max(vars.big) > 0',
      'vars.thousand + [1]',
      'vars.big + vars.big',
      '("," + vars.text).split("").size()',
    ]) {
      expect(unknown(source, { variables: { ...variables, text: 'x'.repeat(5000) } })).toContain('at most 1000');
    }
    expect(value('vars.big.size() + vars.big[999999]', { variables })).toBe(1_999_999);
    expect(value('vars.thousand.exists(x, x == 999)', { variables })).toBe(true);
  });

  it('cannot touch more data than its work allows', () => {
    const variables = { big, copy: [...big], thousand, text: 'x'.repeat(1_000_000) };
    for (const source of [
      '-1 in vars.big',
      'vars.big == vars.copy',
      'vars.big',
      'vars.thousand.exists(x, vars.text.contains("y"))',
      'vars.thousand.exists(x, size(vars.text) == x) || true',
      'vars.thousand.all(x, hour(now) + hour(now) + hour(now) >= 0)',
      'like(vars.text, "*xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy")',
    ]) {
      expect(unknown(source, { variables })).toContain('too much data');
    }
  });

  it('cannot grow a text without bound', () => {
    const text = 'x'.repeat(40_000);
    expect(unknown('vars.text + vars.text', { variables: { text } })).toContain('at most 65536');
    expect(unknown('[vars.text, vars.text].join("")', { variables: { text } })).toContain('at most 65536');
    expect(unknown('string([vars.text, vars.text][0]) + vars.text', { variables: { text } })).toContain(
      'at most 65536',
    );
    const filled = compileTemplate('{{ vars.list }}').evaluate(scope({ variables: { list: [text, text] } }));
    expect(filled).toMatchObject({ ok: false });
  });

  it('has no regular expressions', () => {
    const error = refused('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("(a+)+$")');
    expect(error.message).toContain('no method "matches"');
    expect(error.hint).toContain('like(');
    refused('bytes("x")');
    refused('b"abc".json()');
    refused('cel.bind(a, 1, a)');
  });

  it('reaches no prototype', () => {
    const seen = { args: JSON.parse('{"__proto__": {"polluted": true}, "x": {}}'), variables: { m: {}, xs: [1] } };
    for (const source of ['constructor', '__proto__', 'prototype', 'toString()', '"a".constructor("x")', 'valueOf()'])
      refused(source);
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      expect(unknown(`args.${name}`, seen)).toContain('no value');
      expect(unknown(`args["${name}"]`, seen)).toContain('no value');
      expect(unknown(`trigger[string("${name}")]`, seen)).toContain('no value');
      expect(value(`"${name}" in vars.m`, seen)).toBe(false);
    }
    expect(unknown('vars.m["__proto__"]', seen)).toContain('no value');
    expect(unknown('vars.xs["length"]', seen)).toContain('no fields');
    expect(unknown('vars["__proto__"]', seen)).toContain('no value');
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      expect(refused(`{"${key}": 1}`).message).toContain('cannot be a key');
      expect(unknown(`{string("${key}"): 1}`, seen)).toContain('cannot be a key');
    }
    const copy = value('args', seen) as Record<string, unknown>;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(Object.keys(copy)).toEqual(['x']);
    expect(({} as { polluted?: boolean }).polluted).toBe(undefined);
  });

  it('cannot forge a timestamp with data', () => {
    const forged = JSON.parse('{"tag": "Symbol(timestamp)", "ms": 5}');
    expect(value('vars.forged', { variables: { forged } })).toEqual(forged);
    expect(unknown('hour(vars.forged)', { variables: { forged } })).toContain('a timestamp is wanted');
  });

  it('survives data nested ten thousand deep', () => {
    const deep = JSON.parse(`${'['.repeat(10_000)}1${']'.repeat(10_000)}`);
    const same = JSON.parse(`${'['.repeat(10_000)}1${']'.repeat(10_000)}`);
    expect(unknown('vars.deep', { variables: { deep } })).toContain('nested too deep');
    expect(unknown('vars.deep == vars.same', { variables: { deep, same } })).toContain('nested too deep');
  });

  it('has numbers up to 2^53', () => {
    expect(refused('9'.repeat(4000)).message).toContain('too large');
    expect(refused('0xffffffffffffffffffff').message).toContain('too large');
    expect(value('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(unknown('int("9999999999999999")')).toContain('whole number');
    expect(unknown('int(1e300)')).toContain('whole number');
    expect(refused('5u').message).toContain('plain numbers');
  });

  it('ends soon, whatever it does within its bounds', () => {
    const variables = { xs: thousand, text: 'x'.repeat(12_000), m: { a: thousand } };
    const many = (part: string, join: string, count: number) => Array.from({ length: count }, () => part).join(join);
    const started = performance.now();
    for (const body of [
      many('x * 1.5', '+', 45),
      many('state("a", "temperature")', '+', 45),
      many('size(vars.text)', '+', 40),
      many('(vars.m == vars.m ? 1 : 0)', '+', 15),
      many('(vars.gone > 1 || x < 0 ? 1 : 0)', '+', 15),
      many('round(x * 1.234, 2)', '+', 30),
      many('trigger.at', '==', 2),
    ]) {
      compileExpression(`vars.xs.map(x, ${body}).size() > 0`).evaluate(scope({ variables }));
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('laws', () => {
  const small = fc.integer({ min: -1000, max: 1000 });
  const operator = fc.constantFrom('+', '-', '*', '/', '%');
  const js: Record<string, (a: number, b: number) => number> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => a % b,
  };

  it('arithmetic between int and double agrees with JavaScript', () => {
    fc.assert(
      fc.property(small, small, operator, (a, b, op) => {
        fc.pre(b !== 0 || !'/%'.includes(op));
        const wanted = js[op]?.(a, b) || 0;
        const variables = { a, b };
        // An int literal beside a double literal, and beside a number from outside, on either side.
        for (const source of [`${a} ${op} ${b}.0`, `${a}.0 ${op} ${b}`, `vars.a ${op} ${b}`, `${a} ${op} vars.b`]) {
          expect((value(source, { variables }) as number) || 0).toBe(wanted);
        }
      }),
    );
  });

  it('comparison between int and double agrees with JavaScript', () => {
    fc.assert(
      fc.property(small, small, (a, b) => {
        const variables = { a };
        for (const left of [`${a}`, `${a}.0`, 'vars.a']) {
          const seen = [`${left} < ${b}.0`, `${left} >= ${b}`, `${left} == ${b}.0`, `${left} != ${b}`].map(source =>
            value(source, { variables }),
          );
          expect(seen).toEqual([a < b, a >= b, a === b, a !== b]);
        }
      }),
    );
  });

  it('evaluates as the CEL library does, where both have a value', () => {
    const { bool } = fc.letrec<{ int: string; double: string; text: string; bool: string }>(tie => ({
      int: fc.oneof(
        { maxDepth: 4 },
        fc.integer({ min: 0, max: 20 }).map(String),
        fc.tuple(tie('int'), operator, tie('int')).map(([a, op, b]) => `(${a} ${op} ${b})`),
        fc.tuple(tie('bool'), tie('int'), tie('int')).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
        tie('text').map(text => `size(${text})`),
        tie('int').map(n => `-${n}`),
      ),
      double: fc.oneof(
        { maxDepth: 4 },
        fc.integer({ min: 1, max: 40 }).map(n => (n / 4).toFixed(2)),
        fc.tuple(tie('double'), fc.constantFrom('+', '-', '*'), tie('double')).map(([a, op, b]) => `(${a} ${op} ${b})`),
        tie('int').map(n => `double(${n})`),
      ),
      text: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('"a"', '"ab"', '"ä😀"', '""'),
        fc.tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} + ${b})`),
        tie('int').map(n => `string(${n})`),
      ),
      bool: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('true', 'false'),
        fc
          .tuple(tie('bool'), fc.constantFrom('&&', '||', '==', '!='), tie('bool'))
          .map(([a, op, b]) => `(${a} ${op} ${b})`),
        ...(['int', 'double', 'text'] as const).map(type =>
          fc
            .tuple(tie(type), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie(type))
            .map(([a, op, b]) => `(${a} ${op} ${b})`),
        ),
        fc
          .tuple(tie('int'), fc.array(tie('int'), { maxLength: 3 }))
          .map(([n, list]) => `(${n} in [${list.join(', ')}])`),
        fc
          .tuple(fc.constantFrom('all', 'exists', 'exists_one'), fc.array(tie('int'), { maxLength: 3 }))
          .map(([macro, list]) => `[${list.join(', ')}].${macro}(x, 6 / x > 1)`),
        fc.tuple(tie('text'), tie('text')).map(([a, b]) => `${a}.contains(${b})`),
        tie('bool').map(b => `!${b}`),
      ),
    }));
    const library = (source: string): unknown => {
      try {
        return celEvaluate(source);
      } catch {
        return undefined;
      }
    };
    let compared = 0;
    fc.assert(
      fc.property(bool, source => {
        let ours: ReturnType<typeof compileExpression>;
        try {
          ours = compileExpression(source);
        } catch {
          // Larger than our bounds.
          return;
        }
        compared++;
        const result = ours.evaluate(scope());
        expect(result.ok ? result.value : undefined).toBe(library(source));
      }),
      { numRuns: 1000 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it('no text makes the compiler throw anything but a CausewayError', () => {
    const word = fc.constantFrom(
      ...[
        'state',
        'vars',
        'x',
        '.',
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '"a"',
        ',',
        ':',
        '?',
        '&&',
        '||',
        '!',
        '-',
      ],
      ...[
        '+',
        '1',
        '2.5',
        'in',
        'map',
        'has',
        'null',
        '\\',
        '//',
        '\n',
        'r"',
        'b"',
        '__proto__',
        'constructor',
        '😀',
        ' ',
      ],
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 25 }), words => {
        const source = words.join('');
        try {
          compileExpression(source, { bindings: ['x'] }).evaluate(scope());
          compileTemplate(`{{${source}}}`, { bindings: ['x'] }).evaluate(scope());
        } catch (thrown) {
          expect((thrown as CausewayError).code).toBe('EXPRESSION_INVALID');
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the language', () => {
  it('lists its functions with how they are written', () => {
    expect(expressionFunctions.map(f => f.usage)).toContain('state(id, attribute)');
    for (const { usage, text } of expressionFunctions) expect(usage.length * text.length).toBeGreaterThan(0);
  });

  it('tells which names `as` may bind', () => {
    expect(['answer', 'r2', '_x'].map(isFreeName)).toEqual([true, true, true]);
    expect(
      ['now', 'vars', 'in', 'true', 'string', '__proto__', 'constructor', '2x', 'a-b', ''].map(isFreeName),
    ).toEqual(Array(10).fill(false));
  });

  it('is evaluated in microseconds', () => {
    const expression = compileExpression('state("a", "temperature") > 20 && state("a", "switch") == "on"');
    const seen = scope();
    const started = performance.now();
    for (let i = 0; i < 20_000; i++) expression.evaluate(seen);
    expect((performance.now() - started) / 20_000).toBeLessThan(0.1);
  });
});
