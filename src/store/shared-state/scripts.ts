/**
 * The two steps of the shared counter as Redis scripts. Each runs completely or not at all, in one round trip.
 *
 * Three keys per subject: its state (hash), its open calls by the end of their lease (sorted set), and what each of them reserves (hash). ARGV[1] is
 * JSON; money is in whole nanodollars, times in milliseconds since the epoch. Positions of intervals are those of INTERVALS. Periods and rates use
 * the caller's clock, leases that of Redis: a process with a wrong clock neither holds places longer nor ends those of others.
 */

/** A subject unused for this long is read from the store again. Milliseconds. */
export const TTL_MS = 24 * 60 * 60_000

const COMMON = `
local q = cjson.decode(ARGV[1])
local NAMES = {'lifetime', 'monthly', 'weekly', 'daily'}
local function whole(n) return string.format('%.0f', n) end
local function exact(n) return string.format('%.6f', n) end
-- Of each interval the newest period and the one before it are known: a clock that shows tomorrow for a moment forgets nothing of today.
local function load(key, held)
  local v = redis.call('HMGET', key, 'seeded', 'reserved', 'requests', 'tokens', 'lifetime', 'monthly', 'weekly', 'daily',
    'lifetime_at', 'monthly_at', 'weekly_at', 'daily_at', 'lifetime_was', 'monthly_was', 'weekly_was', 'daily_was',
    'lifetime_was_at', 'monthly_was_at', 'weekly_was_at', 'daily_was_at', 'seen', 'back', 'back_from')
  local s = {seeded = v[1], reserved = tonumber(v[2]) or 0, requests = tonumber(v[3]) or 0, tokens = tonumber(v[4]) or 0,
    spent = {}, at = {}, was = {}, was_at = {}, seen = tonumber(v[21]) or 0}
  -- Evicted alone: the calls that hold something will give it back, and it must be there, or the sum would be less than nothing.
  if not v[2] then
    for _, amount in ipairs(redis.call('HVALS', held)) do s.reserved = s.reserved + tonumber(amount) end
  end
  for i = 1, 4 do
    s.spent[i] = tonumber(v[4 + i]) or 0
    s.at[i] = tonumber(v[8 + i]) or 0
    s.was[i] = tonumber(v[12 + i]) or 0
    s.was_at[i] = tonumber(v[16 + i]) or 0
    local start = q.starts[i]
    if start > s.at[i] then
      s.was[i] = s.spent[i]; s.was_at[i] = s.at[i]
      s.spent[i] = 0; s.at[i] = start
    elseif start < s.at[i] and start > s.was_at[i] then
      -- Passed over, or from before this subject was known: the store is asked.
      s.was[i] = 0; s.was_at[i] = start
      s.seeded = false
    elseif start < s.was_at[i] then
      -- Older than both: so it is here.
      s.spent[i] = 0; s.at[i] = start
      s.was[i] = 0; s.was_at[i] = 0
      s.seeded = false
    end
  end
  -- Rates go on where the clock is set back by more than clocks of several machines differ. A refused call leaves the rates as they are, so the
  -- step is remembered from the first one on: measured anew each time, it would shrink as fast as time passes, and what is owed would stay.
  if q.now < s.seen - 60000 then
    s.back, s.back_from = s.seen - q.now, s.seen
    if tonumber(v[23]) == s.seen then s.back = math.max(s.back, tonumber(v[22]) or 0) end
    s.requests = s.requests - s.back
    s.tokens = s.tokens - s.back
    s.seen = q.now
  end
  s.seen = math.max(s.seen, q.now)
  return s
end
-- In a period before the newest, what was spent since counts as well.
local function spent_in(s, i)
  if q.starts[i] < s.at[i] then return s.was[i] + s.spent[i] end
  return s.spent[i]
end
local function save(key, s)
  local f = {'reserved', whole(s.reserved), 'requests', exact(s.requests), 'tokens', exact(s.tokens), 'seen', whole(s.seen)}
  if s.seeded then
    f[#f + 1] = 'seeded'; f[#f + 1] = '1'
    for i = 1, 4 do
      f[#f + 1] = NAMES[i]; f[#f + 1] = whole(s.spent[i])
      f[#f + 1] = NAMES[i] .. '_at'; f[#f + 1] = whole(s.at[i])
      if s.was_at[i] > 0 then
        f[#f + 1] = NAMES[i] .. '_was'; f[#f + 1] = whole(s.was[i])
        f[#f + 1] = NAMES[i] .. '_was_at'; f[#f + 1] = whole(s.was_at[i])
      end
    end
  end
  redis.call('HSET', key, unpack(f))
  redis.call('PEXPIRE', key, q.ttl)
end
`

/**
 * Replies: ['ok', granted], ['unseeded', n], ['budget', n, available, left of the first, interval...], ['rate', n, m, owed until], ['open', n]; n and m count from 0.
 */
export const RESERVE = `${COMMON}
local time = redis.call('TIME')
local server = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lease = whole(server + q.lease)
local states, mine, granted = {}, {}, q.amount
for n, c in ipairs(q.charges) do
  local key, open, held = KEYS[3 * n - 2], KEYS[3 * n - 1], KEYS[3 * n]
  local s = load(key, held)
  -- The clock of Redis ran ahead when these were taken. Who lives renews them.
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', open, whole(server + q.lease + 60000), '+inf', 'LIMIT', 0, 100)) do
    redis.call('ZADD', open, lease, id)
  end
  local late = redis.call('ZRANGEBYSCORE', open, '-inf', whole(server), 'LIMIT', 0, 100)
  for _, id in ipairs(late) do
    s.reserved = s.reserved - (tonumber(redis.call('HGET', held, id)) or 0)
    redis.call('ZREM', open, id)
    redis.call('HDEL', held, id)
  end
  if #late > 0 then redis.call('HSET', key, 'reserved', whole(s.reserved)) end
  -- Evicted: without one of them nobody would ever give back what is in the other, or in the sum of both.
  if s.reserved > 0 and redis.call('EXISTS', open, held) < 2 then
    s.reserved = 0
    redis.call('DEL', held)
  end
  states[n] = s
  mine[n] = redis.call('ZSCORE', open, q.id) and (tonumber(redis.call('HGET', held, q.id)) or 0)
  if q.amount and #c.budgets > 0 then
    if c.seed then
      s.seeded = '1'
      for i = 1, 4 do
        if c.seed_starts[i] == s.at[i] then s.spent[i] = math.max(s.spent[i], c.seed[i])
        elseif c.seed_starts[i] == s.was_at[i] then s.was[i] = math.max(s.was[i], c.seed[i]) end
      end
      save(key, s)
    elseif not s.seeded then
      return {'unseeded', n - 1}
    end
    local others = s.reserved - (mine[n] or 0)
    local available, broadest, over = nil, nil, {}
    for _, b in ipairs(c.budgets) do
      local spent = spent_in(s, b[1] + 1)
      local left = b[2] - spent - others
      if available == nil or left < available then available = left end
      if spent >= b[2] or left < q.least then
        over[#over + 1] = b[1]
        if broadest == nil or b[1] < broadest[1] then broadest = {b[1], left} end
      end
    end
    if #over > 0 then
      save(key, s)
      return {'budget', n - 1, whole(math.max(0, available)), whole(math.max(0, broadest[2])), unpack(over)}
    end
    if available < granted then granted = available end
  end
end
for n, c in ipairs(q.charges) do
  local s = states[n]
  if not mine[n] then
    for m, r in ipairs(c.rates) do
      local base = math.max(s[r.name], q.now)
      local after = base + r.cost * 60000 / r.limit
      if after - q.now > 60000.001 and not (r.cost > r.limit and base <= q.now) then
        if s.back then redis.call('HSET', KEYS[3 * n - 2], 'back', whole(s.back), 'back_from', whole(s.back_from)) end
        return {'rate', n - 1, m - 1, exact(s[r.name])}
      end
    end
    if c.open and redis.call('ZCARD', KEYS[3 * n - 1]) >= c.open then return {'open', n - 1} end
  end
end
for n, c in ipairs(q.charges) do
  local key, open, held = KEYS[3 * n - 2], KEYS[3 * n - 1], KEYS[3 * n]
  local s = states[n]
  if not mine[n] then
    for _, r in ipairs(c.rates) do s[r.name] = math.max(s[r.name], q.now) + r.cost * 60000 / r.limit end
  end
  if q.amount and #c.budgets > 0 then
    s.reserved = s.reserved + granted - (mine[n] or 0)
    redis.call('HSET', held, q.id, whole(granted))
    redis.call('PEXPIRE', held, q.ttl)
  end
  redis.call('ZADD', open, lease, q.id)
  redis.call('PEXPIRE', open, q.ttl)
  save(key, s)
end
return {'ok', granted and whole(granted) or '0'}
`

/**
 * Replies with the positions of payments that were not made: with `again`, those whose call is no longer open. They were sent before, and it is not
 * known whether they arrived.
 */
export const SETTLE = `${COMMON}
local missed = {}
for n, p in ipairs(q.payments) do
  local key, open, held = KEYS[3 * n - 2], KEYS[3 * n - 1], KEYS[3 * n]
  local s = load(key, held)
  s.reserved = s.reserved - (tonumber(redis.call('HGET', held, q.id)) or 0)
  redis.call('HDEL', held, q.id)
  if redis.call('ZREM', open, q.id) == 0 and q.again then
    missed[#missed + 1] = n - 1
  else
    for _, r in ipairs(p.rates) do
      local owed = s[r.name]
      if r.cost > 0 then owed = math.max(owed, q.now) end
      s[r.name] = owed + r.cost * 60000 / r.limit
    end
    if s.seeded then
      for i = 1, 4 do
        if q.starts[i] < s.at[i] then s.was[i] = s.was[i] + p.spent else s.spent[i] = s.spent[i] + p.spent end
      end
    end
  end
  save(key, s)
end
return missed
`
