// Operations found by plain words, over the whole table as it is.
import { describe, expect, it } from 'vitest';
import { searchOps } from '../../../src/mcp/search.ts';
import { ops } from '../../../src/ops/index.ts';

const first = (query: string, count = 5) =>
  searchOps(ops, query)
    .slice(0, count)
    .map(op => op.name);

describe('plain words', () => {
  it.each([
    ['turn on the lights', 'send_command'],
    ['switch off several lamps at once', 'send_commands'],
    ['why did my rule not fire', 'list_runs'],
    ['who changed something', 'list_audit'],
    ['undo a change of a rule', 'list_revisions'],
    ['history of temperature', 'list_events'],
    ['emergency stop', 'set_panic'],
    ['is the gateway healthy', 'get_system'],
    ['make a fake device', 'create_device'],
    ['replace a broken sensor', 'swap_device'],
    ['wait until the door is closed', 'wait_for_state'],
    ['api key', 'create_token'],
    ['add a family member', 'add_user'],
    ['vacation', 'set_mode'],
    ['test my automation', 'simulate_rules'],
    ['reboot the hub', 'reboot_hubitat_hub'],
    ['traffic over time', 'get_unifi_flow_trends'],
    ['open ports', 'list_unifi_port_forwards'],
    ['who uses the most bandwidth', 'rank_unifi_flows'],
    ['who is at home', 'list_devices'],
    ['scenes', 'list_scenes'],
  ])('find by "%s" the operation %s', (query, name) => {
    expect(first(query)).toContain(name);
  });

  it('that say nothing are not looked for beside those that do', () => {
    expect(first('the statistics of the firewall zones', 1)).toEqual(['list_unifi_firewall_zones']);
  });

  it('that nothing has find nothing, and none find all', () => {
    expect(searchOps(ops, 'qwertz')).toEqual([]);
    expect(searchOps(ops, ' ')).toHaveLength(ops.length);
  });

  it('put the name itself first', () => {
    for (const { name } of ops) expect(first(name, 1)).toEqual([name]);
  });
});
