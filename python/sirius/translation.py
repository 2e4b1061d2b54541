"""A part of a graph of PyTorch's operators as a definition.

Each node is a :class:`Value`: how its element at given subscripts is written. What one node alone uses is written into that
node's statement; what several use, what is reduced, and what leaves the part has a tensor of its own.
"""

import math
import operator

import torch

aten = torch.ops.aten

SCALARS = {
    torch.bool: "bool",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.int32: "int",
    torch.int64: "int64",
    torch.uint8: "uint8",
    torch.float16: "half",
    torch.bfloat16: "bfloat16",
    torch.float32: "float",
    torch.float64: "double",
}

UNARY = {
    aten.neg.default: "(-({0}))",
    aten.exp.default: "exp({0})",
    aten.expm1.default: "expm1({0})",
    aten.log.default: "log({0})",
    aten.log1p.default: "log1p({0})",
    aten.sqrt.default: "sqrt({0})",
    aten.rsqrt.default: "rsqrt({0})",
    aten.tanh.default: "tanh({0})",
    aten.sin.default: "sin({0})",
    aten.cos.default: "cos({0})",
    aten.erf.default: "erf({0})",
    aten.floor.default: "floor({0})",
    aten.ceil.default: "ceil({0})",
    aten.sigmoid.default: "(1.0 / (1.0 + exp(-({0}))))",
    aten.reciprocal.default: "(1.0 / ({0}))",
    aten.abs.default: "abs({0})",
    # What is no number stays so.
    aten.relu.default: "({0} <= 0 ? 0 : {0})",
    aten.logical_not.default: "(!({0}))",
}
# These have no integer form that is PyTorch's: their values are floating.
FLOATING = {each for each, text in UNARY.items() if "neg" not in str(each) and "abs" not in str(each)}
FLOATING -= {aten.relu.default, aten.logical_not.default}

BINARY = {
    aten.add: "({0} + {1})",
    aten.sub: "({0} - {1})",
    aten.mul: "({0} * {1})",
    aten.div: "({0} / {1})",
    aten.eq: "({0} == {1})",
    aten.ne: "({0} != {1})",
    aten.lt: "({0} < {1})",
    aten.le: "({0} <= {1})",
    aten.gt: "({0} > {1})",
    aten.ge: "({0} >= {1})",
    aten.logical_and: "({0} && {1})",
    aten.logical_or: "({0} || {1})",
}
COMPARISONS = {aten.eq, aten.ne, aten.lt, aten.le, aten.gt, aten.ge, aten.logical_and, aten.logical_or}

REDUCTIONS = {
    aten.sum.dim_IntList: "+=!",
    aten.mean.dim: "+=!",
}

VIEWS = {
    aten.permute.default,
    aten.transpose.int,
    aten.t.default,
    aten.expand.default,
    aten.unsqueeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.select.int,
    aten.slice.Tensor,
    aten.view.default,
    aten._unsafe_view.default,
    aten.reshape.default,
}

COPIES = {aten.clone.default, aten.alias.default, aten.detach.default, aten._to_copy.default}

# Smaller integers C++ widens where PyTorch does not.
WHOLE = {torch.int32, torch.int64}

# Products of at most so many multiplications are taken.
SMALL_PRODUCT = 1 << 18


def is_translated(node):
    """Whether a definition can say what a node is."""
    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        source = node.args[0]
        several = (aten.var_mean.correction, aten.split_with_sizes.default)
        return isinstance(source, torch.fx.Node) and source.target in several and is_translated(source)
    if not all(_is_plain(each) for each in [node, *node.all_input_nodes]):
        return False
    target, kind = node.target, _kinds(node)
    if target in UNARY:
        if target is aten.logical_not.default:
            return kind[1] == torch.bool
        return kind[1].is_floating_point or target not in FLOATING and kind[1] in WHOLE
    if getattr(target, "overloadpacket", None) in BINARY:
        return target._overloadname in ("Tensor", "Scalar", "default") and _joins(node)
    if target is aten.pow.Tensor_Scalar:
        return kind[0].is_floating_point and node.args[1] in (2, 3, 0.5, -0.5, -1, 1)
    if target is aten.where.self:
        return all(isinstance(each, torch.fx.Node) for each in node.args)
    if target in REDUCTIONS:
        return kind[0] in (torch.float32, torch.float64) and not node.kwargs and _tensor(node.args[0]).numel() > 0
    if target in (aten.amax.default, aten.amin.default):
        return kind[0] in (torch.float32, torch.float64) and _tensor(node.args[0]).numel() > 0
    if target is aten.var_mean.correction:
        return _tensor(node.args[0]).dtype in (torch.float32, torch.float64)
    if target in VIEWS:
        return _moved(node) is not None
    if target is aten.split_with_sizes.default:
        return True
    if target is aten.cat.default:
        # An empty tensor of one dimension joins any others.
        return len({_tensor(each).dim() for each in node.args[0]}) == 1 and len({*kind}) == 1
    if target in COPIES:
        return set(node.kwargs) <= {"dtype", "memory_format"} and _converts(node)
    if target is aten.embedding.default:
        return len(node.args) <= 3
    if target in (aten.mm.default, aten.bmm.default):
        a, b = (_tensor(each).shape for each in node.args)
        return kind[0] in (torch.float32, torch.float64) and math.prod(a) * b[-1] <= SMALL_PRODUCT
    if target is aten.clamp.default:
        ends = node.args[1:]
        plain = all(each is None or isinstance(each, (int, float)) and not math.isnan(each) for each in ends)
        return plain and kind[0].is_floating_point and kind[0] == kind[1]
    if target is aten.any.dim:
        return kind[1] == torch.bool
    if target in (aten.full.default, aten.full_like.default):
        number = node.args[1]
        return isinstance(number, (int, float)) and not math.isnan(number) and kind[0].is_floating_point
    return False


def _is_plain(node):
    value = node.meta.get("val")
    if isinstance(value, (tuple, list)):
        return all(isinstance(each, torch.Tensor) and _has_numbers(each) for each in value)
    return isinstance(value, torch.Tensor) and _has_numbers(value)


def _has_numbers(value):
    fixed = all(isinstance(extent, int) and extent > 0 for extent in value.shape)
    return fixed and value.dtype in SCALARS and value.layout is torch.strided


def _tensor(node):
    return node.meta["val"]


def _kinds(node):
    """The types of the result, and of the tensors that it is made of."""
    value = node.meta["val"]
    first = value[0] if isinstance(value, (tuple, list)) else value
    return [first.dtype, *(_tensor(each).dtype for each in node.all_input_nodes if isinstance(_tensor(each), torch.Tensor))]


def _joins(node):
    """Whether C++ joins the operands as PyTorch does: all of one type, numbers among them."""
    packet, (result, *operands) = node.target.overloadpacket, _kinds(node)
    numbers = [each for each in [*node.args, node.kwargs.get("alpha", 1)] if not isinstance(each, torch.fx.Node)]
    if not operands or set(operands) != {operands[0]} or not set(node.kwargs) <= {"alpha"}:
        return False
    kind = operands[0]
    if packet in (aten.logical_and, aten.logical_or):
        return kind == torch.bool
    if not all(isinstance(each, (int, float)) and not math.isnan(each) for each in numbers):
        return False
    if not kind.is_floating_point:
        # Quotients of integers are PyTorch's own.
        return kind in WHOLE and packet is not aten.div and all(type(each) is int for each in numbers)
    return result == (torch.bool if packet in COMPARISONS else kind)


def _converts(node):
    """Whether C converts between the types as PyTorch does."""
    before, after = _tensor(node.args[0]).dtype, _tensor(node).dtype
    return before == after or after.is_floating_point or (after == torch.bool and before != torch.bool)


def _moved(node):
    """For what only moves indices: the subscripts of the source, of those of the result; ``None`` for what does more."""
    target, source = node.target, node.args[0]
    before, after = list(_tensor(source).shape), list(_tensor(node).shape)
    rank = len(before)
    if target is aten.permute.default:
        order = [each % rank for each in node.args[1]]
        return lambda at: [at[order.index(dimension)] for dimension in range(rank)]
    if target in (aten.transpose.int, aten.t.default):
        one, other = (node.args[1] % rank, node.args[2] % rank) if target is aten.transpose.int else (0, rank - 1)
        order = list(range(rank))
        order[one], order[other] = order[other], order[one]
        return lambda at: [at[each] for each in order]
    if target is aten.expand.default:
        skipped = len(after) - rank
        grown = [before[each] == 1 and after[each + skipped] != 1 for each in range(rank)]
        return lambda at: ["0" if grown[each] else at[each + skipped] for each in range(rank)]
    if target is aten.select.int:
        dimension, index = node.args[1] % rank, node.args[2] % before[node.args[1] % rank]
        return lambda at: [*at[:dimension], str(index), *at[dimension:]]
    if target is aten.slice.Tensor:
        dimension = (node.args[1] if len(node.args) > 1 else 0) % rank
        start = node.args[2] if len(node.args) > 2 and node.args[2] is not None else 0
        start = max(0, start + before[dimension]) if start < 0 else min(start, before[dimension])
        if len(node.args) > 4 and node.args[4] != 1:
            return None
        return lambda at: [
            f"{each} + {start}" if number == dimension and start else each for number, each in enumerate(at)
        ]
    return lambda at: _viewed(before, after, at)


def _viewed(before, after, at):
    """Subscripts of what is seen with other extents: runs of dimensions with as many elements go together."""
    subscripts, behind = [], list(zip(after, at))
    ahead = list(before)
    while ahead:
        sources, results = [ahead.pop(0)], []
        count = 1
        while count != _count(sources):
            if count < _count(sources):
                results.append(behind.pop(0))
                count *= results[-1][0]
            else:
                sources.append(ahead.pop(0))
        # Rows of elements in both: the number of an element in the run, and its subscripts in the source.
        place, stride = [], 1
        for extent, subscript in reversed(results):
            if extent != 1 and subscript != "0":
                place.append(f"({subscript})" if stride == 1 else f"{stride} * ({subscript})")
            stride *= extent
        number = " + ".join(reversed(place)) or "0"
        stride = _count(sources)
        for position, extent in enumerate(sources):
            stride //= extent
            outer = f"({number}) / {stride}" if stride != 1 else number
            inner = f"({outer}) % {extent}" if position and any(each != 1 for each in sources[:position]) else outer
            subscripts.append("0" if extent == 1 or number == "0" else inner)
    return subscripts


def _count(extents):
    """How many elements there are."""
    return math.prod(extents)


class Value:
    """A node: its shape, its type, how its element at subscripts is written, and whether that is an access to a tensor."""

    def __init__(self, shape, scalar, at, is_stored=False):
        self.shape, self.scalar, self.at, self.is_stored = list(shape), scalar, at, is_stored


class Translation:
    """The definition ``f`` of a graph.

    ``used`` are the numbers of the inputs that it takes, ``results`` the name, shape and type of each of its results.
    """

    def __init__(self, graph):
        self._values, self._statements, self._count = {}, [], 0
        returned = next(node for node in graph.nodes if node.op == "output").args[0]
        self.is_single = isinstance(returned, torch.fx.Node)
        returned = [returned] if self.is_single else list(returned)
        self._names = {each: f"O{number}" for number, each in reversed(list(enumerate(returned)))}
        self._defined = set()
        declared, self.used, number = [], [], 0
        for node in graph.nodes:
            if node.op == "placeholder":
                if node.users:
                    tensor = _tensor(node)
                    name = f"I{number}"
                    declared.append(f"{SCALARS[tensor.dtype]}({', '.join(map(str, tensor.shape))}) {name}")
                    self.used.append(number)
                    self._values[node] = self._stored(name, tensor.shape, SCALARS[tensor.dtype])
                number += 1
            elif node.op == "call_function":
                self._values[node] = self._value(node)
        self.results, outputs = [], []
        for number, each in enumerate(returned):
            tensor, name = _tensor(each), f"O{number}"
            if name not in self._defined:
                self._define(name, self._values[each])
            outputs.append(f"{SCALARS[tensor.dtype]}({', '.join(map(str, tensor.shape))}) {name}")
            self.results.append((name, tuple(tensor.shape), tensor.dtype))
        body = "".join(f"  {each}\n" for each in self._statements)
        self.text = f"def f({', '.join(declared)}) -> ({', '.join(outputs)}) {{\n{body}}}\n"

    @staticmethod
    def _stored(name, shape, scalar):
        def at(subscripts):
            return f"{name}({', '.join(subscripts)})" if subscripts else name

        return Value(shape, scalar, at, True)

    def _define(self, name, value, reduced=(), sign="="):
        """A statement: the tensor, and what it is reduced over."""
        indices = [f"i{number}" for number in range(len(value.shape))]
        kept = [each for number, each in enumerate(indices) if number not in reduced]
        ranges = ", ".join(f"{each} in 0:{extent}" for each, extent in zip(indices, value.shape))
        left = f"{name}({', '.join(kept)})" if kept else name
        where = f" where {ranges}" if ranges else ""
        self._statements.append(f"{left} {sign} {value.at(indices)}{where}")

    def _own(self, value, reduced=(), sign="="):
        """A value with a tensor of its own."""
        name = f"T{self._count}"
        self._count += 1
        shape = [extent for number, extent in enumerate(value.shape) if number not in reduced]
        # Declared, it has the type that PyTorch says.
        self._statements.append(f"{value.scalar}({', '.join(map(str, shape))}) {name}")
        self._define(name, value, reduced, sign)
        return self._stored(name, shape, value.scalar)

    def _value(self, node):
        if node.target is operator.getitem:
            return self._values[node.args[0]][node.args[1]]
        found = self._computed(node)
        if isinstance(found, tuple) or node.target in VIEWS:
            return found
        if node in self._names:
            name = self._names[node]
            self._defined.add(name)
            self._define(name, found)
            return self._stored(name, found.shape, found.scalar)
        return self._own(found) if len(node.users) > 1 and not found.is_stored else found

    def _operand(self, given, shape):
        """An operand, by subscripts of the result."""
        if not isinstance(given, torch.fx.Node):
            return lambda at: _number(given)
        value = self._values[given]
        skipped = len(shape) - len(value.shape)

        def at(subscripts):
            own = subscripts[skipped:]
            return value.at(["0" if extent == 1 else each for each, extent in zip(own, value.shape)])

        return at

    def _elementwise(self, node, text, operands=None):
        shape, scalar = _tensor(node).shape, SCALARS[_tensor(node).dtype]
        operands = node.args if operands is None else operands
        for number, each in enumerate(operands):
            # What is written twice would grow with each operator.
            if isinstance(each, torch.fx.Node) and text.count(f"{{{number}}}") > 1 and not self._values[each].is_stored:
                self._values[each] = self._own(self._values[each])
        given = [self._operand(each, shape) for each in operands]
        return Value(shape, scalar, lambda at: text.format(*(each(at) for each in given)))

    def _computed(self, node):
        target, arguments = node.target, node.args
        if target in UNARY:
            return self._elementwise(node, UNARY[target], arguments[:1])
        if getattr(target, "overloadpacket", None) in BINARY:
            text, alpha = BINARY[target.overloadpacket], node.kwargs.get("alpha", 1)
            if alpha != 1:
                text = text.replace("{1}", f"{_number(alpha)} * {{1}}")
            return self._elementwise(node, text, arguments[:2])
        if target is aten.pow.Tensor_Scalar:
            texts = {2: "({0} * {0})", 3: "({0} * {0} * {0})", 0.5: "sqrt({0})", -0.5: "rsqrt({0})", -1: "(1.0 / {0})", 1: "{0}"}
            return self._elementwise(node, texts[arguments[1]], arguments[:1])
        if target is aten.where.self:
            return self._elementwise(node, "({0} ? {1} : {2})")
        if target in COPIES:
            scalar = SCALARS[_tensor(node).dtype]
            text = "({0} != 0)" if scalar == "bool" and _tensor(arguments[0]).dtype != torch.bool else "{0}"
            same = _tensor(arguments[0]).dtype == _tensor(node).dtype
            if scalar in ("half", "bfloat16") and not same:
                # A definition rounds to these where an element is written.
                return self._own(self._elementwise(node, "{0}", arguments[:1]))
            wide = f"{scalar}({{0}})"
            return self._elementwise(node, "{0}" if same else text if scalar == "bool" else wide, arguments[:1])
        if target in VIEWS:
            source, moved = self._values[arguments[0]], _moved(node)
            return Value(_tensor(node).shape, source.scalar, lambda at: source.at(moved(at)), source.is_stored)
        if target in (aten.full.default, aten.full_like.default):
            return Value(_tensor(node).shape, SCALARS[_tensor(node).dtype], lambda at: _number(arguments[1]))
        if target is aten.split_with_sizes.default:
            return self._split(node)
        if target is aten.cat.default:
            return self._joined(node)
        if target is aten.clamp.default:
            low, high = (*arguments[1:], None, None)[:2]
            # What is no number stays so.
            text = "{0}" if low is None else f"({{0}} < {_number(low)} ? {_number(low)} : {{0}})"
            found = self._elementwise(node, text, arguments[:1])
            if high is None:
                return found
            found = self._own(found)
            text = f"({{0}} > {_number(high)} ? {_number(high)} : {{0}})"
            return Value(found.shape, found.scalar, lambda at: text.format(found.at(at)))
        if target is aten.any.dim:
            source = self._values[arguments[0]]
            ones = Value(source.shape, "int", lambda at: f"({source.at(at)} ? 1 : 0)")
            count = self._own(ones, self._dimensions(node), "+=!")
            found = Value(count.shape, "bool", lambda at: f"({count.at(at)} != 0)")
            keeps = len(arguments) > 2 and arguments[2]
            return _with_ones(found, _tensor(node).shape, self._dimensions(node), keeps)
        if target in REDUCTIONS or target in (aten.amax.default, aten.amin.default):
            return self._reduced(node)
        if target is aten.var_mean.correction:
            return self._moments(node)
        if target is aten.embedding.default:
            table, rows = self._values[arguments[0]], self._values[arguments[1]]
            scalar = table.scalar
            return Value(_tensor(node).shape, scalar, lambda at: table.at([rows.at(at[:-1]), at[-1]]))
        return self._product(node)

    def _split(self, node):
        source, parts, start = self._values[node.args[0]], [], 0
        dimension = (node.args[2] if len(node.args) > 2 else 0) % len(source.shape)
        for value in node.meta["val"]:

            def at(subscripts, start=start):
                return source.at(
                    [f"{each} + {start}" if number == dimension and start else each for number, each in enumerate(subscripts)]
                )

            parts.append(Value(value.shape, source.scalar, at, source.is_stored))
            start += value.shape[dimension]
        return tuple(parts)

    def _joined(self, node):
        sources = [self._values[each] for each in node.args[0]]
        dimension = (node.args[1] if len(node.args) > 1 else 0) % len(sources[0].shape)

        def at(subscripts):
            place, text, end = subscripts[dimension], "", 0
            for number, source in enumerate(sources, 1):
                own = list(subscripts)
                own[dimension] = f"{place} - {end}" if end else place
                end += source.shape[dimension]
                text += source.at(own) if number == len(sources) else f"({place} < {end} ? {source.at(own)} : "
            return text + ")" * (len(sources) - 1)

        return Value(_tensor(node).shape, SCALARS[_tensor(node).dtype], at)

    def _dimensions(self, node):
        rank = len(_tensor(node.args[0]).shape)
        given = node.args[1] if len(node.args) > 1 else None
        given = [given] if isinstance(given, int) else given
        return sorted(each % rank for each in given) if given else list(range(rank))

    def _reduced(self, node):
        source = self._values[node.args[0]]
        dimensions = self._dimensions(node)
        signs = {aten.amax.default: "max=!", aten.amin.default: "min=!"}
        if node.target in signs and not source.is_stored:
            source = self._own(source)
        found = self._own(source, dimensions, signs.get(node.target, "+=!"))
        if node.target in signs:
            # The largest with what is no number is no number.
            def strange(at):
                return f"({source.at(at)} == {source.at(at)} ? 0.0 : 1.0)"

            largest, count = found, self._own(Value(source.shape, source.scalar, strange), dimensions, "+=!")
            found = self._own(
                Value(found.shape, found.scalar, lambda at: f"({count.at(at)} > 0.0 ? 0.0 / 0.0 : {largest.at(at)})")
            )
        if node.target is aten.mean.dim:
            found = _scaled(found, math.prod(source.shape[each] for each in dimensions))
        return _with_ones(found, _tensor(node).shape, dimensions, len(node.args) > 2 and node.args[2])

    def _moments(self, node):
        source = self._values[node.args[0]]
        dimensions = self._dimensions(node)
        count = math.prod(source.shape[each] for each in dimensions)
        correction = node.kwargs.get("correction", 1)
        correction = 1 if correction is None else correction
        total = self._own(source, dimensions, "+=!")
        mean = self._own(_scaled(total, count))
        kept = [number for number in range(len(source.shape)) if number not in dimensions]

        def square(at):
            apart = f"({source.at(at)} - {mean.at([at[each] for each in kept])})"
            return f"{apart} * {apart}"

        squares = self._own(Value(source.shape, source.scalar, square), dimensions, "+=!")
        variance = _scaled(squares, max(count - correction, 0))
        keeps = node.kwargs.get("keepdim", False)
        shape = node.meta["val"][0].shape
        return tuple(_with_ones(each, shape, dimensions, keeps) for each in (variance, mean))

    def _product(self, node):
        a, b = (self._values[each] for each in node.args)
        batch = a.shape[:-2]
        shape = [*batch, a.shape[-2], b.shape[-1], a.shape[-1]]

        def term(at):
            *before, row, column, inner = at
            return f"{a.at([*before, row, inner])} * {b.at([*before, inner, column])}"

        return self._own(Value(shape, SCALARS[_tensor(node).dtype], term), [len(shape) - 1], "+=!")


def _scaled(value, count):
    return Value(value.shape, value.scalar, lambda at: f"({value.at(at)} / {_number(float(count))})")


def _with_ones(value, shape, dimensions, keeps):
    if not keeps:
        return value
    kept = [number for number in range(len(shape)) if number not in dimensions]
    return Value(shape, value.scalar, lambda at: value.at([at[each] for each in kept]))


def _number(given):
    if isinstance(given, bool):
        return "1" if given else "0"
    if isinstance(given, float) and math.isinf(given):
        return "log(0.0)" if given < 0 else "(-log(0.0))"
    text = repr(given)
    return f"({text})" if text.startswith("-") else text
