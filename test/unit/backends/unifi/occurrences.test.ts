import { describe, expect, test } from 'vitest';
import { readHappenings, readLog } from '../../../../src/backends/unifi/console/wire.ts';
import { newCounters } from '../../../../src/backends/unifi/counters.ts';
import { fromHappening, fromLog } from '../../../../src/backends/unifi/network/occurrences.ts';

const MAC = '00:00:5e:00:53:01';
const counters = newCounters();
const happened = (row: object) =>
  readHappenings([{ _id: 'e1', time: 5, ...row }], counters).map(one => fromHappening(one, counters, 9))[0];
const logged = (row: object) =>
  readLog({ data: [{ id: 'l1', timestamp: 5, ...row }] }, counters).map(one => fromLog(one, counters, 9))[0];

describe('an event of the socket', () => {
  test('of a client names it by whichever field has it', () => {
    for (const [key, field, isWired] of [
      ['EVT_WU_Connected', 'user', false],
      ['EVT_WG_Connected', 'guest', false],
      ['EVT_LU_Connected', 'client', true],
    ] as const) {
      expect(happened({ key, [field]: MAC.toUpperCase() })).toMatchObject({
        about: 'client',
        what: 'connected',
        mac: MAC,
        isWired,
      });
    }
  });

  test('of a roam names the access point that the client is at then', () => {
    expect(
      happened({ key: 'EVT_WU_Roam', user: MAC, ap_from: '00:00:5e:00:53:f2', ap_to: '00:00:5e:00:53:f3' }),
    ).toMatchObject({
      what: 'roamed',
      ap: '00:00:5e:00:53:f3',
    });
    expect(happened({ key: 'EVT_WU_RoamRadio', user: MAC, ap: '00:00:5e:00:53:f2' })).toMatchObject({
      ap: '00:00:5e:00:53:f2',
    });
  });

  test('of a device names it by its kind', () => {
    for (const kind of ['ap', 'sw', 'gw', 'dm', 'xg']) {
      const row = { key: `EVT_${kind.toUpperCase()}_Lost_Contact`, [kind]: MAC };
      expect(happened(row)).toEqual({ about: 'device', what: 'offline', mac: MAC, time: 5, version: undefined });
    }
  });

  test('of an intrusion keeps what is text or number, whatever stands in the rest', () => {
    const row = {
      key: 'EVT_IPS_IpsAlert',
      catname: ['a'],
      src_ip: '192.0.2.1',
      srcipCountry: false,
      srcipGeo: [],
      inner_alert_severity: 1,
    };
    expect(happened(row)).toEqual({
      about: 'site',
      name: 'threat',
      time: 5,
      id: 'e1',
      value: { sourceIp: '192.0.2.1', severity: 1, country: false },
    });
  });

  test('that is noise, or not known, is none; the latter is counted', () => {
    expect(happened({ key: 'EVT_AP_Notification', ap: MAC, payload: '{}' })).toBeUndefined();
    expect([...counters.unknownKinds]).toEqual([]);
    expect(happened({ key: 'EVT_QQ_New' })).toBeUndefined();
    expect([...counters.unknownKinds]).toEqual(['EVT_QQ_New']);
  });
});

describe('an entry of the system log', () => {
  test('of a client says whether it is wired, and where', () => {
    const row = {
      event: 'CLIENT_CONNECTED',
      key: 'CLIENT_CONNECTED_WIRELESS_2',
      parameters: { CLIENT: { id: MAC }, AP: { id: '00:00:5e:00:53:f2' } },
    };
    expect(logged(row)).toMatchObject({
      about: 'client',
      what: 'connected',
      isWired: false,
      ap: '00:00:5e:00:53:f2',
      time: 5,
    });
    const wired = { event: 'CLIENT_CONNECTED', key: 'CLIENT_CONNECTED_WIRED', parameters: { CLIENT: { id: MAC } } };
    expect(logged(wired)).toMatchObject({ isWired: true, ap: undefined });
  });

  test('of what was blocked names source, destination and the policy', () => {
    const parameters = {
      SRC_CLIENT: { id: MAC, name: 'Camera' },
      DST_IP: { id: '198.51.100.9' },
      TRIGGER: { name: 'no cameras' },
      ODD: 7,
    };
    expect(logged({ event: 'BLOCKED_BY_FIREWALL', severity: 'MEDIUM', parameters })).toMatchObject({
      name: 'blockedByFirewall',
      value: {
        severity: 'MEDIUM',
        source: { mac: MAC, name: 'Camera' },
        destination: { ip: '198.51.100.9' },
        by: 'no cameras',
      },
    });
  });

  test('of the lines wants them to be looked at', () => {
    expect(logged({ event: 'WAN_FAILOVER', category: 'INTERNET_AND_WAN' })).toEqual({ about: 'wan' });
  });

  test('without parameters costs nothing', () => {
    expect(logged({ event: 'CLIENT_CONNECTED', parameters: 'none' })).toBeUndefined();
  });
});
