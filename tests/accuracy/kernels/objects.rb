# SPDX-License-Identifier: MIT
# Objects, blocks and hashes in Ruby: shapes on a grid that move, meet and are counted.
Shape = Struct.new(:x, :y, :kind, :hits)

class Grid
  def initialize(side, shapes)
    @side = side
    @shapes = shapes
  end

  def step(turn)
    cells = Hash.new { |hash, key| hash[key] = [] }
    @shapes.each_with_index do |shape, i|
      shape.x = (shape.x + (i * turn) % 3 - 1) % @side
      shape.y = (shape.y + (i + turn) % 3 - 1) % @side
      cells[shape.y * @side + shape.x] << shape
    end
    cells.each_value { |met| met.each { |shape| shape.hits += met.size - 1 } if met.size > 1 }
  end

  def report
    @shapes.group_by(&:kind).map { |kind, all| "#{kind}=#{all.sum(&:hits)}" }.sort.join(" ")
  end
end

state = 1
draw = lambda do |n|
  state = (state * 1103515245 + 12345) & 0x7fffffff
  (state >> 8) % n
end
grid = Grid.new(40, Array.new(800) { Shape.new(draw.call(40), draw.call(40), "kind#{draw.call(9)}", 0) })
ARGV[0].to_i.times { |turn| grid.step(turn) }
puts grid.report
