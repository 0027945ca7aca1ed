-- SPDX-License-Identifier: MIT
-- Tables, closures and strings in Lua: a heap of jobs with times, whose names are counted.
local state = 1

local function chance(n)
	state = (state * 1103515245 + 12345) & 0x7fffffff
	return (state >> 8) % n
end

local Heap = {}
Heap.__index = Heap

function Heap.new()
	return setmetatable({ n = 0 }, Heap)
end

function Heap:push(job)
	local i = self.n + 1
	self.n = i
	while i > 1 and self[i // 2].time > job.time do
		self[i] = self[i // 2]
		i = i // 2
	end
	self[i] = job
end

function Heap:pop()
	local top, last = self[1], self[self.n]
	self[self.n] = nil
	self.n = self.n - 1
	local i = 1
	while 2 * i <= self.n do
		local child = 2 * i
		if child < self.n and self[child + 1].time < self[child].time then
			child = child + 1
		end
		if self[child].time >= last.time then
			break
		end
		self[i] = self[child]
		i = child
	end
	if self.n > 0 then
		self[i] = last
	end
	return top
end

local heap, seen, sum = Heap.new(), {}, 0.0
for i = 1, 2000 do
	heap:push({ time = chance(1000) + 0.5, name = "job" .. i % 97 })
end
for i = 1, tonumber(arg[1]) * 1000 do
	local job = heap:pop()
	seen[job.name] = (seen[job.name] or 0) + 1
	sum = sum + job.time
	if i % 5 == 0 then
		job.name = ("%s-%d"):format(job.name:sub(1, 4), chance(500))
	end
	job.time = job.time + chance(1000)
	heap:push(job)
end
local names = {}
for name in pairs(seen) do
	names[#names + 1] = name
end
table.sort(names)
print(#names, names[1], string.format("%.1f", sum))
